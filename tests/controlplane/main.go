// Command controlplane runs a command beside a real control plane: an etcd, a kube-apiserver and, behind
// its aggregator, OpenShift's template API, all in this one process and on loopback. When the command
// ends, so does everything else.
//
//	controlplane -- COMMAND [ARGUMENT...]
//
// The command finds the cluster by the kubeconfig that OPENSHIFT_TEMPLATES_TEST_KUBECONFIG names. Its
// contexts are ways in: worker (the current one) and admin by token, worker-cert and admin-cert by
// certificate, bad-token, and anonymous. The folder world holds what the cluster begins with.
//
// It is not a whole cluster. No controller runs: a namespace that was deleted never ends, nothing is
// collected as garbage, and no Pod starts. Of OpenShift's own APIs there are templates and
// processedtemplates; role bindings of authorization.openshift.io, which can be created and applied but
// grant nothing; and Routes and DeploymentConfigs as custom kinds without OpenShift's defaults.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"k8s.io/component-base/version"
)

const (
	// kubeconfigVariable is where the tests look for a real cluster.
	kubeconfigVariable = "OPENSHIFT_TEMPLATES_TEST_KUBECONFIG"
	// startLimit is far more than a start takes, also on a busy machine.
	startLimit = 3 * time.Minute
)

func main() {
	args := os.Args[1:]
	if len(args) < 2 || args[0] != "--" {
		fmt.Fprintln(os.Stderr, "usage: controlplane -- COMMAND [ARGUMENT...]")
		os.Exit(2)
	}
	code, err := run(args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "controlplane:", err)
		if code == 0 {
			code = 1
		}
	}
	os.Exit(code)
}

// run starts the control plane, runs the command, and removes every trace of both.
func run(command []string) (code int, err error) {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)

	dir, err := os.MkdirTemp("", "openshift-templates-controlplane-")
	if err != nil {
		return 1, err
	}
	ctx, stop := context.WithCancel(context.Background())
	plane := newControlPlane(dir)
	defer func() {
		stop()
		err = errors.Join(err, plane.remove())
	}()

	started := make(chan error, 1)
	begin := time.Now()
	go func() {
		ctx, cancel := context.WithTimeoutCause(ctx, startLimit, fmt.Errorf("not ready after %v", startLimit))
		defer cancel()
		started <- plane.start(ctx)
	}()
	select {
	case sig := <-signals:
		stop()
		// Until it gives up, it may write into the folder that is about to be removed.
		<-started
		return 128 + int(sig.(syscall.Signal)), nil
	case err := <-started:
		if err != nil {
			plane.showLogs(os.Stderr)
			return 1, err
		}
	}
	fmt.Fprintf(os.Stderr, "controlplane: kube-apiserver %s at %s, ready after %.1f s\n",
		version.Get().GitVersion, plane.url, time.Since(begin).Seconds())

	env := []string{kubeconfigVariable + "=" + plane.kubeconfig}
	code, err = runCommand(command, env, signals, plane.failed)
	if errors.Is(err, errStopped) {
		plane.showLogs(os.Stderr)
	}
	return code, err
}
