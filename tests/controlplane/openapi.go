package main

import (
	"maps"
	"strings"

	"github.com/emicklei/go-restful/v3"
	"k8s.io/apimachinery/pkg/runtime"
	apiopenapi "k8s.io/apiserver/pkg/endpoints/openapi"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/util"
	"k8s.io/kube-openapi/pkg/validation/spec"
	kubeopenapi "k8s.io/kubernetes/pkg/generated/openapi"
)

// Server-side apply needs a schema of every kind. OpenShift's are generated for all its kinds at once,
// nearly ninety thousand lines to compile and made for an older Kubernetes; these say the same of the
// kinds served here.

const (
	templateV1      = "github.com/openshift/api/template/v1."
	authorizationV1 = "github.com/openshift/api/authorization/v1."
	objectMeta      = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
	listMeta        = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta"
	objectReference = "io.k8s.api.core.v1.ObjectReference"
	rawExtension    = "io.k8s.apimachinery.pkg.runtime.RawExtension"
)

// openAPIDefinitions are the schemas of this server's kinds, beside Kubernetes' own.
func openAPIDefinitions(ref common.ReferenceCallback) map[string]common.OpenAPIDefinition {
	definitions := kubeopenapi.GetOpenAPIDefinitions(ref)
	maps.Copy(definitions, map[string]common.OpenAPIDefinition{
		templateV1 + "Template": kind(ref, objectMeta, properties{
			"message":    of("string"),
			"objects":    listOf(reference(ref, rawExtension)),
			"parameters": listOf(reference(ref, templateV1+"Parameter")),
			"labels":     *spec.MapProperty(spec.StringProperty()),
		}, templateV1+"Parameter", rawExtension),
		templateV1 + "TemplateList": kind(ref, listMeta, properties{
			"items": listOf(reference(ref, templateV1+"Template")),
		}, templateV1+"Template"),
		templateV1 + "Parameter": {Schema: object(properties{
			"name":        of("string"),
			"displayName": of("string"),
			"description": of("string"),
			"value":       of("string"),
			"generate":    of("string"),
			"from":        of("string"),
			"required":    of("boolean"),
		})},
		authorizationV1 + "RoleBinding": kind(ref, objectMeta, properties{
			"userNames":  listOf(of("string")),
			"groupNames": listOf(of("string")),
			"subjects":   listOf(reference(ref, objectReference)),
			"roleRef":    reference(ref, objectReference),
		}, objectReference),
		authorizationV1 + "RoleBindingList": kind(ref, listMeta, properties{
			"items": listOf(reference(ref, authorizationV1+"RoleBinding")),
		}, authorizationV1+"RoleBinding"),
	})
	return definitions
}

// setOpenAPI gives a server the schemas of a scheme's kinds.
func setOpenAPI(config *genericapiserver.Config, scheme *runtime.Scheme) {
	names := apiopenapi.NewDefinitionNamer(scheme)
	// A scheme looks for its kinds by such names as Kubernetes' schemas have, com.github.openshift...;
	// OpenShift's have those of their Go types.
	definitionName := func(name string) (string, spec.Extensions) {
		if strings.Contains(name, "/") {
			name = util.ToRESTFriendlyName(name)
		}
		return names.GetDefinitionName(name)
	}
	// Both endpoints create the kind Template, and no two operations may have one name.
	operation := func(route *restful.Route) (string, []string, error) {
		id, tags, err := apiopenapi.GetOperationIDAndTags(route)
		if strings.HasSuffix(route.Path, "/processedtemplates") {
			id = strings.TrimSuffix(id, "Template") + "ProcessedTemplate"
		}
		return id, tags, err
	}

	v2 := genericapiserver.DefaultOpenAPIConfig(openAPIDefinitions, names)
	v2.GetDefinitionName, v2.GetOperationIDAndTags = definitionName, operation
	v3 := genericapiserver.DefaultOpenAPIV3Config(openAPIDefinitions, names)
	v3.GetDefinitionName, v3.GetOperationIDAndTags = definitionName, operation
	// These were already made, with the names that are replaced above; without them they are made anew.
	v3.Definitions = nil
	config.OpenAPIConfig, config.OpenAPIV3Config = v2, v3
}

type properties map[string]spec.Schema

// kind is the schema of a top-level object: its own properties and the ones that all have.
func kind(ref common.ReferenceCallback, metadata string, own properties, dependencies ...string) common.OpenAPIDefinition {
	own["apiVersion"], own["kind"] = of("string"), of("string")
	own["metadata"] = reference(ref, metadata)
	return common.OpenAPIDefinition{Schema: object(own), Dependencies: append(dependencies, metadata)}
}

func object(properties properties) spec.Schema {
	schema := of("object")
	schema.Properties = properties
	return schema
}

func of(name string) spec.Schema {
	return spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{name}}}
}

func listOf(item spec.Schema) spec.Schema {
	return *spec.ArrayProperty(&item)
}

func reference(ref common.ReferenceCallback, name string) spec.Schema {
	return spec.Schema{SchemaProps: spec.SchemaProps{Ref: ref(name)}}
}
