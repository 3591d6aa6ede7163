// Package authorization serves the role bindings of authorization.openshift.io/v1, for what is peculiar
// about them: there is nothing to apply to until one was created.
//
// OpenShift keeps no such objects, but shows those of rbac.authorization.k8s.io in their old form. Here
// they are stored as they are, and grant nothing.
package authorization

import (
	"cmp"
	"context"

	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/api/validation/path"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage/names"

	authorizationv1 "github.com/openshift/api/authorization/v1"
)

// Install adds the types to a scheme. The server handles them in the form in which they are sent.
func Install(scheme *runtime.Scheme) error {
	internal := schema.GroupVersion{Group: authorizationv1.GroupName, Version: runtime.APIVersionInternal}
	scheme.AddKnownTypes(internal, &authorizationv1.RoleBinding{}, &authorizationv1.RoleBindingList{})
	if err := authorizationv1.Install(scheme); err != nil {
		return err
	}
	return scheme.SetVersionPriority(authorizationv1.GroupVersion)
}

// RoleBindings is the endpoint rolebindings.
type RoleBindings struct {
	store *registry.Store
}

var (
	_ rest.Creater              = &RoleBindings{}
	_ rest.Getter               = &RoleBindings{}
	_ rest.Lister               = &RoleBindings{}
	_ rest.Patcher              = &RoleBindings{}
	_ rest.GracefulDeleter      = &RoleBindings{}
	_ rest.Scoper               = &RoleBindings{}
	_ rest.SingularNameProvider = &RoleBindings{}
)

// NewRoleBindings keeps them in etcd.
func NewRoleBindings(scheme *runtime.Scheme, options generic.RESTOptionsGetter) (*RoleBindings, error) {
	strategy := strategy{scheme, names.SimpleNameGenerator}
	store := &registry.Store{
		NewFunc:                   func() runtime.Object { return &authorizationv1.RoleBinding{} },
		NewListFunc:               func() runtime.Object { return &authorizationv1.RoleBindingList{} },
		DefaultQualifiedResource:  authorizationv1.Resource("rolebindings"),
		SingularQualifiedResource: authorizationv1.Resource("rolebinding"),
		CreateStrategy:            strategy,
		UpdateStrategy:            strategy,
		DeleteStrategy:            strategy,
		TableConvertor:            rest.NewDefaultTableConvertor(authorizationv1.Resource("rolebindings")),
	}
	return &RoleBindings{store}, store.CompleteWithOptions(&generic.StoreOptions{RESTOptions: options})
}

// Update never creates, not even when the request is an apply.
func (r *RoleBindings) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, create rest.ValidateObjectFunc, update rest.ValidateObjectUpdateFunc, _ bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	return r.store.Update(ctx, name, info, create, update, false, options)
}

// Delete says no more than that it succeeded.
func (r *RoleBindings) Delete(ctx context.Context, name string, validate rest.ValidateObjectFunc, options *metav1.DeleteOptions) (runtime.Object, bool, error) {
	_, deleted, err := r.store.Delete(ctx, name, validate, options)
	if err != nil {
		return nil, false, err
	}
	return &metav1.Status{Status: metav1.StatusSuccess}, deleted, nil
}

// The rest is the store's; it is not embedded because OpenShift offers no watch here and no deletion of
// many at once.

func (r *RoleBindings) New() runtime.Object     { return r.store.New() }
func (r *RoleBindings) NewList() runtime.Object { return r.store.NewList() }
func (r *RoleBindings) Destroy()                { r.store.Destroy() }
func (r *RoleBindings) NamespaceScoped() bool   { return true }
func (r *RoleBindings) GetSingularName() string { return r.store.GetSingularName() }

func (r *RoleBindings) Create(ctx context.Context, obj runtime.Object, validate rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	return r.store.Create(ctx, obj, validate, options)
}

func (r *RoleBindings) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	return r.store.Get(ctx, name, options)
}

func (r *RoleBindings) List(ctx context.Context, options *internalversion.ListOptions) (runtime.Object, error) {
	return r.store.List(ctx, options)
}

func (r *RoleBindings) ConvertToTable(ctx context.Context, obj, options runtime.Object) (*metav1.Table, error) {
	return r.store.ConvertToTable(ctx, obj, options)
}

type strategy struct {
	runtime.ObjectTyper
	names.NameGenerator
}

func (strategy) NamespaceScoped() bool          { return true }
func (strategy) AllowCreateOnUpdate() bool      { return false }
func (strategy) AllowUnconditionalUpdate() bool { return true }

func (strategy) PrepareForCreate(_ context.Context, obj runtime.Object)    { nameSubjects(obj) }
func (strategy) PrepareForUpdate(_ context.Context, obj, _ runtime.Object) { nameSubjects(obj) }
func (strategy) Canonicalize(runtime.Object)                               {}

// nameSubjects writes the subjects once more in their oldest form, as names.
func nameSubjects(obj runtime.Object) {
	binding := obj.(*authorizationv1.RoleBinding)
	binding.UserNames, binding.GroupNames = nil, nil
	for _, subject := range binding.Subjects {
		switch subject.Kind {
		case "ServiceAccount":
			namespace := cmp.Or(subject.Namespace, binding.Namespace)
			binding.UserNames = append(binding.UserNames, "system:serviceaccount:"+namespace+":"+subject.Name)
		case "Group", "SystemGroup":
			binding.GroupNames = append(binding.GroupNames, subject.Name)
		default:
			binding.UserNames = append(binding.UserNames, subject.Name)
		}
	}
}

// Names are those of RBAC: any that can stand in a path.
func (strategy) Validate(_ context.Context, obj runtime.Object) field.ErrorList {
	binding := obj.(*authorizationv1.RoleBinding)
	return validation.ValidateObjectMeta(&binding.ObjectMeta, true, path.ValidatePathSegmentName, field.NewPath("metadata"))
}

func (strategy) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	binding, before := obj.(*authorizationv1.RoleBinding), old.(*authorizationv1.RoleBinding)
	return validation.ValidateObjectMetaUpdate(&binding.ObjectMeta, &before.ObjectMeta, field.NewPath("metadata"))
}

func (strategy) WarningsOnCreate(context.Context, runtime.Object) []string { return nil }

func (strategy) WarningsOnUpdate(context.Context, runtime.Object, runtime.Object) []string {
	return nil
}
