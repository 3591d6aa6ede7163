package main

import (
	"bytes"
	"context"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// manifests are the objects that every start begins with, one file for each reason to be there.
//
//go:embed world/*.yaml
var manifests embed.FS

// manager owns the fields of these objects, as it does of what people create with kubectl.
const manager = "kubectl-client-side-apply"

// createAll creates the objects of one file in their order.
func createAll(ctx context.Context, client dynamic.Interface, file string) error {
	text, err := manifests.ReadFile("world/" + file)
	if err != nil {
		return err
	}
	documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		object := &unstructured.Unstructured{}
		switch err := documents.Decode(&object.Object); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("%s: %w", file, err)
		}
		if err := create(ctx, client, object); err != nil {
			return fmt.Errorf("create the %s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
}

func create(ctx context.Context, client dynamic.Interface, object *unstructured.Unstructured) error {
	if err := rememberLastApplied(object); err != nil {
		return err
	}
	_, err := resourceFor(client, object).Create(ctx, object, metav1.CreateOptions{FieldManager: manager})
	return err
}

// resourceFor finds an object's endpoint. All plurals here are regular, so none needs to be looked up.
func resourceFor(client dynamic.Interface, object *unstructured.Unstructured) dynamic.ResourceInterface {
	resource, _ := meta.UnsafeGuessKindToResource(object.GroupVersionKind())
	if namespace := object.GetNamespace(); namespace != "" {
		return client.Resource(resource).Namespace(namespace)
	}
	return client.Resource(resource)
}

// rememberLastApplied sets the annotation that kubectl apply sets: a stored template usually has it, and
// it quotes the whole template again, values and all.
func rememberLastApplied(object *unstructured.Unstructured) error {
	annotations := object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	object.SetAnnotations(annotations)
	if len(annotations) == 0 {
		// SetAnnotations drops an empty map, which kubectl writes out.
		if err := unstructured.SetNestedMap(object.Object, map[string]any{}, "metadata", "annotations"); err != nil {
			return err
		}
	}
	applied, err := json.Marshal(object.Object)
	if err != nil {
		return err
	}
	annotations["kubectl.kubernetes.io/last-applied-configuration"] = string(applied) + "\n"
	object.SetAnnotations(annotations)
	return nil
}

// createAggregated registers an API server that listens on a loopback port. A Service of type
// ExternalName is how a Service leads to an address that no cluster network knows; TLS is verified for
// the Service's own name.
func createAggregated(ctx context.Context, client dynamic.Interface, server *aggregatedServer) error {
	objects := []map[string]any{{
		"apiVersion": "v1",
		"kind":       "Service",
		"metadata":   map[string]any{"name": server.service, "namespace": server.namespace},
		"spec":       map[string]any{"type": "ExternalName", "externalName": "127.0.0.1"},
	}}
	for _, gv := range server.versions {
		objects = append(objects, map[string]any{
			"apiVersion": "apiregistration.k8s.io/v1",
			"kind":       "APIService",
			"metadata":   map[string]any{"name": gv.Version + "." + gv.Group},
			"spec": map[string]any{
				"group":                gv.Group,
				"version":              gv.Version,
				"caBundle":             base64.StdEncoding.EncodeToString(server.caBundle),
				"groupPriorityMinimum": int64(9900),
				"versionPriority":      int64(15),
				"service": map[string]any{
					"name":      server.service,
					"namespace": server.namespace,
					"port":      int64(server.port),
				},
			},
		})
	}
	for _, object := range objects {
		unstructured := &unstructured.Unstructured{Object: object}
		if _, err := resourceFor(client, unstructured).Create(ctx, unstructured, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("register an aggregated API: %w", err)
		}
	}
	return nil
}

// endNamespace deletes a namespace that a finalizer keeps.
func endNamespace(ctx context.Context, client dynamic.Interface, name string) error {
	namespaces := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"})
	if err := namespaces.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
		return fmt.Errorf("delete the namespace %s: %w", name, err)
	}
	return nil
}

// condition is something that must hold before the control plane is ready.
type condition struct {
	what string
	try  func(context.Context) error
}

// worldConditions tell when those who will use the world can see it: definitions are served, the
// aggregator knows which API servers answer, rights hold, and the template API's own view of the
// namespaces has caught up. All of these follow their objects by a moment.
func worldConditions(admin, worker rest.Interface) []condition {
	answers := func(client rest.Interface, path string) func(context.Context) error {
		return func(ctx context.Context) error { return client.Get().AbsPath(path).Do(ctx).Error() }
	}
	process := func(ctx context.Context, client rest.Interface, namespace string) error {
		return client.Post().
			AbsPath("/apis/template.openshift.io/v1/namespaces", namespace, "processedtemplates").
			SetHeader("Content-Type", "application/json").
			Body([]byte(`{"apiVersion":"template.openshift.io/v1","kind":"Template"}`)).
			Do(ctx).Error()
	}
	return []condition{
		{"VirtualMachines", answers(admin, "/apis/kubevirt.io/v1/virtualmachines")},
		{"Fleets", answers(admin, "/apis/example.com/v1/fleets")},
		{"Routes", answers(admin, "/apis/route.openshift.io/v1/routes")},
		{"DeploymentConfigs", answers(admin, "/apis/apps.openshift.io/v1/deploymentconfigs")},
		{"the worker's template", answers(worker, "/apis/template.openshift.io/v1/namespaces/infra/templates/worker-template")},
		{"processing", func(ctx context.Context) error { return process(ctx, worker, "workers") }},
		{"no processing in the namespace that ends", func(ctx context.Context) error {
			err := process(ctx, admin, "ending")
			if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
				return nil
			}
			return fmt.Errorf("it answered: %v", err)
		}},
		{"the API without a backend", func(ctx context.Context) error {
			err := answers(admin, "/apis/metrics.k8s.io/v1beta1")(ctx)
			if apierrors.IsServiceUnavailable(err) {
				return nil
			}
			return fmt.Errorf("it answered: %v", err)
		}},
	}
}
