package template

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage/names"

	templatev1 "github.com/openshift/api/template/v1"
)

// NewStored is the endpoint templates, kept in etcd. Deleting a template answers with the template.
func NewStored(scheme *runtime.Scheme, options generic.RESTOptionsGetter) (*registry.Store, error) {
	strategy := strategy{scheme, names.SimpleNameGenerator}
	store := &registry.Store{
		NewFunc:                   func() runtime.Object { return &Template{} },
		NewListFunc:               func() runtime.Object { return &TemplateList{} },
		DefaultQualifiedResource:  templatev1.Resource("templates"),
		SingularQualifiedResource: templatev1.Resource("template"),
		CreateStrategy:            strategy,
		UpdateStrategy:            strategy,
		DeleteStrategy:            strategy,
		ReturnDeletedObject:       true,
		TableConvertor:            rest.NewDefaultTableConvertor(templatev1.Resource("templates")),
	}
	return store, store.CompleteWithOptions(&generic.StoreOptions{RESTOptions: options})
}

// strategy is what is particular to templates among all stored objects: hardly anything.
type strategy struct {
	runtime.ObjectTyper
	names.NameGenerator
}

func (strategy) NamespaceScoped() bool          { return true }
func (strategy) AllowCreateOnUpdate() bool      { return false }
func (strategy) AllowUnconditionalUpdate() bool { return false }

func (strategy) PrepareForCreate(context.Context, runtime.Object)                 {}
func (strategy) PrepareForUpdate(context.Context, runtime.Object, runtime.Object) {}
func (strategy) Canonicalize(runtime.Object)                                      {}

func (strategy) Validate(_ context.Context, obj runtime.Object) field.ErrorList {
	return validateStored(obj.(*Template))
}

func (strategy) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	return validateUpdate(obj.(*Template), old.(*Template))
}

func (strategy) WarningsOnCreate(context.Context, runtime.Object) []string { return nil }

func (strategy) WarningsOnUpdate(context.Context, runtime.Object, runtime.Object) []string {
	return nil
}
