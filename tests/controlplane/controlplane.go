package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
)

// namespace is the one that every context of the kubeconfig names.
const namespace = "workers"

// errStopped marks the error of a server that stopped by itself.
var errStopped = errors.New("a server of the control plane stopped")

// controlPlane is everything that runs, and the folder in which it keeps its files. What runs does so
// until the process ends.
type controlPlane struct {
	dir        string
	url        string
	kubeconfig string
	// failed gets the error of a server that stopped by itself.
	failed chan error
	etcd   *embed.Etcd
}

func newControlPlane(dir string) *controlPlane {
	return &controlPlane{dir: dir, kubeconfig: filepath.Join(dir, "kubeconfig"), failed: make(chan error, 2)}
}

// keys are the three authorities, each trusted for one thing only: an aggregated API server believes
// whatever user name a front proxy sends, so no client's certificate may pass for a front proxy's.
type keys struct {
	servers, clients, proxies *authority
}

func newKeys(dir string) (keys, error) {
	servers, err1 := newAuthority(dir, "server-ca")
	clients, err2 := newAuthority(dir, "client-ca")
	proxies, err3 := newAuthority(dir, "front-proxy-ca")
	return keys{servers, clients, proxies}, errors.Join(err1, err2, err3)
}

// start starts the parts in their order and returns when all can be used. ctx limits only the start.
func (p *controlPlane) start(ctx context.Context) error {
	// As in OpenShift's API servers: a panic, such as some templates cause, ends the request with a 500.
	utilruntime.ReallyCrash = false
	if err := p.logToFile(); err != nil {
		return err
	}
	keys, err := newKeys(p.dir)
	if err != nil {
		return err
	}
	worker, err := newIdentity(keys.clients, "worker")
	if err != nil {
		return err
	}
	admin, err := newIdentity(keys.clients, "admin", "system:masters")
	if err != nil {
		return err
	}
	etcd, etcdURL, err := startEtcd(p.dir)
	if err != nil {
		return err
	}
	p.etcd = etcd

	if err := p.startKubeAPIServer(ctx, keys, etcdURL, worker, admin); err != nil {
		return err
	}
	if err := writeKubeconfig(p.kubeconfig, p.url, keys.servers.CertFile, namespace, worker, admin); err != nil {
		return err
	}
	adminConfig, err := p.config("admin")
	if err != nil {
		return err
	}
	adminPaths, err := pathClient(adminConfig)
	if err != nil {
		return err
	}
	if err := p.poll(ctx, func(ctx context.Context) error {
		return adminPaths.Get().AbsPath("/readyz").Do(ctx).Error()
	}); err != nil {
		return fmt.Errorf("wait for kube-apiserver: %w", err)
	}

	templateAPI, err := p.startTemplateAPI(ctx, keys, etcdURL, admin)
	if err != nil {
		return err
	}
	objects, err := dynamic.NewForConfig(adminConfig)
	if err != nil {
		return err
	}
	return p.createWorld(ctx, objects, adminPaths, templateAPI)
}

// createWorld creates what every start begins with, and waits until it can be seen.
func (p *controlPlane) createWorld(ctx context.Context, objects dynamic.Interface, admin rest.Interface, templateAPI *aggregatedServer) error {
	for _, file := range []string{"definitions.yaml", "namespaces.yaml", "rights.yaml", "aggregation.yaml"} {
		if err := createAll(ctx, objects, file); err != nil {
			return err
		}
	}
	if err := endNamespace(ctx, objects, "ending"); err != nil {
		return err
	}
	if err := createAggregated(ctx, objects, templateAPI); err != nil {
		return err
	}
	if err := p.poll(ctx, func(ctx context.Context) error {
		return admin.Get().AbsPath("/apis/template.openshift.io/v1").Do(ctx).Error()
	}); err != nil {
		return fmt.Errorf("wait for the template API: %w", err)
	}
	if err := createAll(ctx, objects, "templates.yaml"); err != nil {
		return err
	}

	workerConfig, err := p.config("worker")
	if err != nil {
		return err
	}
	worker, err := pathClient(workerConfig)
	if err != nil {
		return err
	}
	// At once, because the first request for a custom kind takes a second.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var waiting sync.WaitGroup
	for _, condition := range worldConditions(admin, worker) {
		waiting.Go(func() {
			if err := p.poll(ctx, condition.try); err != nil {
				cancel(fmt.Errorf("wait for %s: %w", condition.what, err))
			}
		})
	}
	waiting.Wait()
	return context.Cause(ctx)
}

func (p *controlPlane) startKubeAPIServer(ctx context.Context, keys keys, etcdURL string, identities ...identity) error {
	serving, err := keys.servers.server("kube-apiserver")
	if err != nil {
		return err
	}
	proxy, err := keys.proxies.client(frontProxyUser)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	p.url = "https://" + listener.Addr().String()
	kube := &kubeAPIServer{
		dir:        p.dir,
		etcdURL:    etcdURL,
		listener:   listener,
		serving:    serving,
		clientCA:   keys.clients.CertFile,
		proxyCA:    keys.proxies.CertFile,
		proxyCert:  proxy,
		identities: identities,
	}
	return kube.start(context.WithoutCancel(ctx), p.failed)
}

func (p *controlPlane) startTemplateAPI(ctx context.Context, keys keys, etcdURL string, admin identity) (*aggregatedServer, error) {
	kubeconfig := filepath.Join(p.dir, "aggregated.kubeconfig")
	if err := writeKubeconfig(kubeconfig, p.url, keys.servers.CertFile, "", admin); err != nil {
		return nil, err
	}
	server := &aggregatedServer{
		service:    "api",
		namespace:  "openshift-apiserver",
		etcdURL:    etcdURL,
		kubeconfig: kubeconfig,
		clientCA:   keys.clients.CertFile,
		proxyCA:    keys.proxies.CertFile,
	}
	return server, server.start(context.WithoutCancel(ctx), keys.servers, p.failed)
}

// config is the client's configuration of one context of the kubeconfig.
func (p *controlPlane) config(name string) (*rest.Config, error) {
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		&clientcmd.ClientConfigLoadingRules{ExplicitPath: p.kubeconfig},
		&clientcmd.ConfigOverrides{CurrentContext: name}).ClientConfig()
}

// pathClient is a client for bare paths, as readiness and not-yet-served APIs need them.
func pathClient(config *rest.Config) (rest.Interface, error) {
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	return client.RESTClient(), nil
}

// poll tries until there is no error. When ctx ends it says what the last try said, and when a server
// stops it says why.
func (p *controlPlane) poll(ctx context.Context, try func(context.Context) error) error {
	var last error
	for {
		if err := try(ctx); err == nil {
			return nil
		} else if ctx.Err() == nil {
			last = err
		}
		select {
		case err := <-p.failed:
			return err
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), last)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// logToFile keeps the servers' logs, which are long and mostly about the absent rest of a cluster, out
// of the command's output.
func (p *controlPlane) logToFile() error {
	log, err := os.Create(filepath.Join(p.dir, "servers.log"))
	if err != nil {
		return err
	}
	klog.SetOutput(log)
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	for name, value := range map[string]string{
		"logtostderr":     "false",
		"stderrthreshold": "FATAL",
		// Otherwise a line is written once for each severity up to its own.
		"one_output": "true",
	} {
		if err := flags.Set(name, value); err != nil {
			return err
		}
	}
	return nil
}

// showLogs writes the end of the servers' logs.
func (p *controlPlane) showLogs(out io.Writer) {
	klog.Flush()
	for _, name := range []string{"etcd.log", "servers.log"} {
		text, err := os.ReadFile(filepath.Join(p.dir, name))
		if err != nil {
			continue
		}
		lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
		fmt.Fprintf(out, "--- the end of %s\n%s\n", name, bytes.Join(lines[max(0, len(lines)-40):], []byte("\n")))
	}
}

// remove stops etcd, the only part that writes into the folder at any time, and removes the folder.
func (p *controlPlane) remove() error {
	if p.etcd != nil {
		p.etcd.Server.HardStop()
	}
	return os.RemoveAll(p.dir)
}
