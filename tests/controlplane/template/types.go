// Package template serves the templates of template.openshift.io/v1 the way OpenShift's API server does:
// stored ones, and the endpoint that renders one. The types, the processing and the storage are the real
// ones, used as libraries; what is written here is what OpenShift's API server adds to them.
//
// The package's name is seen by clients: the server names its internal type, template.Template, when it
// is sent another kind.
package template

import (
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	templatev1 "github.com/openshift/api/template/v1"
)

// internalVersion is the version in which the server handles templates of any version.
var internalVersion = schema.GroupVersion{Group: templatev1.GroupName, Version: runtime.APIVersionInternal}

// Template is the server's internal form of a template.
type Template templatev1.Template

// TemplateList is the server's internal form of a list of templates.
type TemplateList struct {
	metav1.TypeMeta
	metav1.ListMeta

	Items []Template
}

// DeepCopyObject makes a Template a runtime.Object.
func (t *Template) DeepCopyObject() runtime.Object {
	return (*Template)((*templatev1.Template)(t).DeepCopy())
}

// DeepCopyObject makes a TemplateList a runtime.Object.
func (l *TemplateList) DeepCopyObject() runtime.Object {
	out := &TemplateList{TypeMeta: l.TypeMeta}
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	for i := range l.Items {
		out.Items = append(out.Items, *l.Items[i].DeepCopyObject().(*Template))
	}
	return out
}

// Install adds both forms of the types to a scheme, and the way between them. The version v1 without a
// group is there to be refused by its name: it is what templates of old files have.
func Install(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(internalVersion, &Template{}, &TemplateList{})
	for _, install := range []func(*runtime.Scheme) error{
		templatev1.Install,
		templatev1.DeprecatedInstallWithoutGroup,
		addConversions,
	} {
		if err := install(scheme); err != nil {
			return err
		}
	}
	return scheme.SetVersionPriority(templatev1.GroupVersion)
}

// fromV1 keeps of a template's objects what was sent and no more: the decoder has also wrapped each in an
// object of an unknown kind, which would hide a null from the processing, and that is to fail on it.
func fromV1(in *templatev1.Template) Template {
	out := Template(*in)
	if in.Objects != nil {
		out.Objects = make([]runtime.RawExtension, len(in.Objects))
	}
	for i, object := range in.Objects {
		if _, unknown := object.Object.(*runtime.Unknown); unknown {
			object.Object = nil
		}
		out.Objects[i] = object
	}
	return out
}

// addConversions goes between the two forms. As in generated conversions, the result shares what the
// fields point to.
func addConversions(scheme *runtime.Scheme) error {
	return errors.Join(
		scheme.AddConversionFunc((*templatev1.Template)(nil), (*Template)(nil), func(from, to any, _ conversion.Scope) error {
			*to.(*Template) = fromV1(from.(*templatev1.Template))
			return nil
		}),
		scheme.AddConversionFunc((*Template)(nil), (*templatev1.Template)(nil), func(from, to any, _ conversion.Scope) error {
			*to.(*templatev1.Template) = templatev1.Template(*from.(*Template))
			return nil
		}),
		scheme.AddConversionFunc((*templatev1.TemplateList)(nil), (*TemplateList)(nil), func(from, to any, _ conversion.Scope) error {
			in, out := from.(*templatev1.TemplateList), to.(*TemplateList)
			out.ListMeta, out.Items = in.ListMeta, make([]Template, len(in.Items))
			for i := range in.Items {
				out.Items[i] = fromV1(&in.Items[i])
			}
			return nil
		}),
		scheme.AddConversionFunc((*TemplateList)(nil), (*templatev1.TemplateList)(nil), func(from, to any, _ conversion.Scope) error {
			in, out := from.(*TemplateList), to.(*templatev1.TemplateList)
			out.ListMeta, out.Items = in.ListMeta, make([]templatev1.Template, len(in.Items))
			for i, item := range in.Items {
				out.Items[i] = templatev1.Template(item)
			}
			return nil
		}),
	)
}
