package template

import (
	"context"
	"math/rand"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"

	templatev1 "github.com/openshift/api/template/v1"
	"github.com/openshift/library-go/pkg/template/generator"
	"github.com/openshift/library-go/pkg/template/templateprocessing"
)

// Processed is the endpoint processedtemplates: a template is created there, and comes back rendered.
type Processed struct{}

var (
	_ rest.Creater              = Processed{}
	_ rest.Scoper               = Processed{}
	_ rest.SingularNameProvider = Processed{}
)

// New is the kind that is sent there.
func (Processed) New() runtime.Object { return &Template{} }

// Destroy has nothing to release.
func (Processed) Destroy() {}

// NamespaceScoped says that a template is rendered into a namespace.
func (Processed) NamespaceScoped() bool { return true }

// GetSingularName is the name in discovery.
func (Processed) GetSingularName() string { return "processedtemplate" }

// Create renders a template. The library panics on a null among a template's objects, and so does this
// server, as the real one does. Validating admission is ignored, as there.
func (Processed) Create(_ context.Context, obj runtime.Object, _ rest.ValidateObjectFunc, _ *metav1.CreateOptions) (runtime.Object, error) {
	sent, ok := obj.(*Template)
	if !ok {
		return nil, apierrors.NewBadRequest("not a template")
	}
	kind := templatev1.GroupVersion.WithKind("Template").GroupKind()
	if errs := validateProcessed(sent); len(errs) > 0 {
		return nil, apierrors.NewInvalid(kind, sent.Name, errs)
	}

	rendered := (*templatev1.Template)(sent).DeepCopy()
	processor := templateprocessing.NewProcessor(map[string]generator.Generator{
		"expression": generator.NewExpressionValueGenerator(rand.New(rand.NewSource(time.Now().UnixNano()))),
	})
	if errs := processor.Process(rendered); len(errs) > 0 {
		return nil, apierrors.NewInvalid(kind, sent.Name, errs)
	}
	// The objects are of kinds that this server's codecs do not know, so they are encoded here.
	for i := range rendered.Objects {
		raw, err := runtime.Encode(unstructured.UnstructuredJSONScheme, rendered.Objects[i].Object)
		if err != nil {
			return nil, err
		}
		rendered.Objects[i] = runtime.RawExtension{Raw: raw}
	}
	return (*Template)(rendered), nil
}
