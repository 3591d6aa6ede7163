package main

import (
	"crypto/rand"
	"os"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// identity is a user that the control plane knows by a token and by a certificate.
type identity struct {
	user   string
	groups []string
	token  string
	cert   keyPair
}

func newIdentity(clients *authority, user string, groups ...string) (identity, error) {
	cert, err := clients.client(user, groups...)
	return identity{user: user, groups: groups, token: rand.Text(), cert: cert}, err
}

// writeKubeconfig writes one context for each way in, all to the same cluster and namespace: every
// identity by its token ("worker") and by its certificate ("worker-cert"), a token that the cluster
// does not know ("bad-token"), and nobody ("anonymous"). The first identity's token is the current
// context.
func writeKubeconfig(path, server, caFile, namespace string, identities ...identity) error {
	config := api.NewConfig()
	ca, err := os.ReadFile(caFile)
	if err != nil {
		return err
	}
	config.Clusters["controlplane"] = &api.Cluster{Server: server, CertificateAuthorityData: ca}
	add := func(name string, user *api.AuthInfo) {
		config.AuthInfos[name] = user
		config.Contexts[name] = &api.Context{Cluster: "controlplane", AuthInfo: name, Namespace: namespace}
	}

	for _, id := range identities {
		cert, err := os.ReadFile(id.cert.CertFile)
		if err != nil {
			return err
		}
		key, err := os.ReadFile(id.cert.KeyFile)
		if err != nil {
			return err
		}
		add(id.user, &api.AuthInfo{Token: id.token})
		add(id.user+"-cert", &api.AuthInfo{ClientCertificateData: cert, ClientKeyData: key})
	}
	add("bad-token", &api.AuthInfo{Token: "no-such-token"})
	add("anonymous", &api.AuthInfo{})
	config.CurrentContext = identities[0].user
	return clientcmd.WriteToFile(*config, path)
}
