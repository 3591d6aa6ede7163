package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
)

// frontProxyUser is the name by which kube-apiserver presents itself to the API servers behind its
// aggregator, and the only one they take a user's name from.
const frontProxyUser = "front-proxy"

// kubeAPIServer is what kube-apiserver needs, besides its own defaults.
type kubeAPIServer struct {
	dir        string
	etcdURL    string
	listener   net.Listener
	serving    keyPair
	clientCA   string
	proxyCA    string
	proxyCert  keyPair
	identities []identity
}

// start starts kube-apiserver and does not wait for it. If it stops, failed gets its error.
func (k *kubeAPIServer) start(ctx context.Context, failed chan<- error) error {
	tokens := filepath.Join(k.dir, "tokens.csv")
	if err := writeTokens(tokens, k.identities); err != nil {
		return err
	}
	serviceAccountKey := filepath.Join(k.dir, "service-accounts.key")
	if _, err := newKeyFile(serviceAccountKey); err != nil {
		return err
	}

	s := options.NewServerRunOptions()
	flags := pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
	for _, set := range s.Flags().FlagSets {
		flags.AddFlagSet(set)
	}
	// The flags of an ordinary kube-apiserver, so that anyone who runs one can read them.
	err := flags.Parse([]string{
		"--etcd-servers=" + k.etcdURL,
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		// Loopback may not stand in an EndpointSlice, and nothing here uses the Service "kubernetes".
		"--endpoint-reconciler-type=none",
		"--service-cluster-ip-range=10.0.0.0/24",
		"--tls-cert-file=" + k.serving.CertFile,
		"--tls-private-key-file=" + k.serving.KeyFile,
		"--client-ca-file=" + k.clientCA,
		"--token-auth-file=" + tokens,
		"--authorization-mode=RBAC",
		"--requestheader-client-ca-file=" + k.proxyCA,
		"--requestheader-allowed-names=" + frontProxyUser,
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + k.proxyCert.CertFile,
		"--proxy-client-key-file=" + k.proxyCert.KeyFile,
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + serviceAccountKey,
		"--service-account-signing-key-file=" + serviceAccountKey,
		// No controller makes the service account that this plugin would require of every Pod.
		"--disable-admission-plugins=ServiceAccount",
	})
	if err != nil {
		return err
	}
	s.SecureServing.Listener = k.listener
	s.SecureServing.BindPort = k.listener.Addr().(*net.TCPAddr).Port

	if err := s.GenericServerRunOptions.ComponentGlobalsRegistry.Set(); err != nil {
		return err
	}
	completed, err := s.Complete(ctx)
	if err != nil {
		return fmt.Errorf("kube-apiserver's options: %w", err)
	}
	if errs := completed.Validate(); len(errs) > 0 {
		return fmt.Errorf("kube-apiserver's options: %w", utilerrors.NewAggregate(errs))
	}

	go func() {
		err := app.Run(ctx, completed)
		failed <- fmt.Errorf("%w: kube-apiserver: %v", errStopped, err)
	}()
	return nil
}

// writeTokens writes kube-apiserver's static tokens: token,user,uid and, if there are any, "group,group".
func writeTokens(path string, identities []identity) error {
	var csv strings.Builder
	for _, id := range identities {
		fmt.Fprintf(&csv, "%s,%s,%s", id.token, id.user, id.user)
		if len(id.groups) > 0 {
			fmt.Fprintf(&csv, ",%q", strings.Join(id.groups, ","))
		}
		csv.WriteByte('\n')
	}
	return os.WriteFile(path, []byte(csv.String()), 0o600)
}
