package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"

	authorizationv1 "github.com/openshift/api/authorization/v1"
	templatev1 "github.com/openshift/api/template/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	"k8s.io/apiserver/pkg/util/compatibility"

	"openshift-templates.test/controlplane/authorization"
	"openshift-templates.test/controlplane/template"
)

// aggregatedServer is the API server behind the aggregator that stands for OpenShift's own: the same
// library, the same types and the same template processing, but only the APIs that the tests need.
type aggregatedServer struct {
	// service and namespace name the Service by which the aggregator finds it.
	service, namespace string
	etcdURL            string
	// kubeconfig is how it asks kube-apiserver who a user is and what the user may do.
	kubeconfig string
	clientCA   string
	proxyCA    string

	// Set by start.
	port     int
	caBundle []byte
	versions []schema.GroupVersion
}

// start starts the server and does not wait for it. If it stops, failed gets its error.
func (a *aggregatedServer) start(ctx context.Context, servers *authority, failed chan<- error) error {
	server, err := a.build(ctx, servers)
	if err != nil {
		return fmt.Errorf("the template API: %w", err)
	}
	go func() {
		err := server.PrepareRun().RunWithContext(ctx)
		failed <- fmt.Errorf("%w: the template API: %v", errStopped, err)
	}()
	return nil
}

func (a *aggregatedServer) build(ctx context.Context, servers *authority) (*genericapiserver.GenericAPIServer, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(template.Install(scheme), authorization.Install(scheme)); err != nil {
		return nil, err
	}
	codecs := serializer.NewCodecFactory(scheme)

	config := genericapiserver.NewRecommendedConfig(codecs)
	config.EffectiveVersion = compatibility.DefaultBuildEffectiveVersion()
	setOpenAPI(&config.Config, scheme)

	options, err := a.options(codecs, servers)
	if err != nil {
		return nil, err
	}
	if errs := options.Validate(); len(errs) > 0 {
		return nil, utilerrors.NewAggregate(errs)
	}
	if err := options.ApplyTo(config); err != nil {
		return nil, err
	}
	server, err := config.Complete().New("openshift-apiserver", genericapiserver.NewEmptyDelegate())
	if err != nil {
		return nil, err
	}

	templates, err := template.NewStored(scheme, config.RESTOptionsGetter)
	if err != nil {
		return nil, err
	}
	roleBindings, err := authorization.NewRoleBindings(scheme, config.RESTOptionsGetter)
	if err != nil {
		return nil, err
	}
	for gv, endpoints := range map[schema.GroupVersion]map[string]rest.Storage{
		templatev1.GroupVersion: {
			"processedtemplates": template.Processed{},
			"templates":          templates,
		},
		authorizationv1.GroupVersion: {
			"rolebindings": roleBindings,
		},
	} {
		group := genericapiserver.NewDefaultAPIGroupInfo(gv.Group, scheme, metav1.ParameterCodec, codecs)
		group.VersionedResourcesStorageMap[gv.Version] = endpoints
		if err := server.InstallAPIGroup(&group); err != nil {
			return nil, err
		}
		a.versions = append(a.versions, gv)
	}
	return server, nil
}

// options are those of any aggregated API server. Its admission, too: that is where a missing namespace and
// one that ends are refused.
func (a *aggregatedServer) options(codecs serializer.CodecFactory, servers *authority) (*genericoptions.RecommendedOptions, error) {
	o := genericoptions.NewRecommendedOptions("/openshift.io", codecs.LegacyCodec(templatev1.GroupVersion, authorizationv1.GroupVersion))
	o.Etcd.StorageConfig.Transport.ServerList = []string{a.etcdURL}
	o.Etcd.StorageConfig.EncodeVersioner = schema.GroupVersions{templatev1.GroupVersion, authorizationv1.GroupVersion}

	serving, err := servers.server(a.service, a.service+"."+a.namespace+".svc")
	if err != nil {
		return nil, err
	}
	if a.caBundle, err = os.ReadFile(servers.CertFile); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	a.port = listener.Addr().(*net.TCPAddr).Port
	o.SecureServing.Listener = listener
	o.SecureServing.BindPort = a.port
	o.SecureServing.BindAddress = net.IPv4(127, 0, 0, 1)
	o.SecureServing.ServerCert.CertKey = genericoptions.CertKey{CertFile: serving.CertFile, KeyFile: serving.KeyFile}

	o.Authentication.RemoteKubeConfigFile = a.kubeconfig
	o.Authentication.SkipInClusterLookup = true
	o.Authentication.ClientCert.ClientCA = a.clientCA
	o.Authentication.RequestHeader.ClientCAFile = a.proxyCA
	o.Authentication.RequestHeader.AllowedNames = []string{frontProxyUser}
	o.Authorization.RemoteKubeConfigFile = a.kubeconfig
	o.CoreAPI.CoreAPIKubeconfigPath = a.kubeconfig

	// Requests were already queued by kube-apiserver.
	o.Features.EnablePriorityAndFairness = false
	return o, nil
}
