package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// authority signs certificates and keeps them as PEM files in one folder. Everything is made anew at
// every start: there is no key to guard and no certificate to renew.
type authority struct {
	dir      string
	name     string
	cert     *x509.Certificate
	key      *ecdsa.PrivateKey
	CertFile string
}

// keyPair names the two PEM files of a certificate.
type keyPair struct {
	CertFile string
	KeyFile  string
}

func newAuthority(dir, name string) (*authority, error) {
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: name},
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := sign(template, template, &key.PublicKey, key)
	if err != nil {
		return nil, fmt.Errorf("make the authority %s: %w", name, err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	a := &authority{dir: dir, name: name, cert: cert, key: key, CertFile: filepath.Join(dir, name+".crt")}
	return a, writePEM(a.CertFile, "CERTIFICATE", der)
}

// server makes a certificate for a server that is reached at loopback and under the given names.
func (a *authority) server(name string, dnsNames ...string) (keyPair, error) {
	return a.issue(name, &x509.Certificate{
		Subject:     pkix.Name{CommonName: name},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    append([]string{"localhost"}, dnsNames...),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	})
}

// client makes a certificate by which kube-apiserver knows a user and the user's groups.
func (a *authority) client(user string, groups ...string) (keyPair, error) {
	return a.issue(user, &x509.Certificate{
		Subject:     pkix.Name{CommonName: user, Organization: groups},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

func (a *authority) issue(name string, template *x509.Certificate) (keyPair, error) {
	base := filepath.Join(a.dir, a.name+"-"+name)
	pair := keyPair{CertFile: base + ".crt", KeyFile: base + ".key"}
	key, err := newKeyFile(pair.KeyFile)
	if err != nil {
		return keyPair{}, err
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	der, err := sign(template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		return keyPair{}, fmt.Errorf("make a certificate for %s: %w", name, err)
	}
	return pair, writePEM(pair.CertFile, "CERTIFICATE", der)
}

// newKeyFile writes a private key; kube-apiserver also signs service account tokens with one.
func newKeyFile(path string) (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	return key, writePEM(path, "EC PRIVATE KEY", der)
}

func sign(template, parent *x509.Certificate, public *ecdsa.PublicKey, signer *ecdsa.PrivateKey) ([]byte, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	template.SerialNumber = serial
	// An hour back, for a machine whose clock was just set; a week on, far longer than any test.
	template.NotBefore = time.Now().Add(-time.Hour)
	template.NotAfter = time.Now().Add(7 * 24 * time.Hour)
	return x509.CreateCertificate(rand.Reader, template, parent, public, signer)
}

func writePEM(path, kind string, der []byte) error {
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}
