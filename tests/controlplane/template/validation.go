package template

import (
	"regexp"

	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var parameterName = regexp.MustCompile(`^[a-zA-Z0-9_]+$`)

// validateProcessed checks a template that is to be rendered: only its parameters' names. It is not
// stored, so it needs no name.
func validateProcessed(t *Template) field.ErrorList {
	var errs field.ErrorList
	for i, parameter := range t.Parameters {
		path := field.NewPath("parameters").Index(i).Child("name")
		switch {
		case parameter.Name == "":
			errs = append(errs, field.Required(path, ""))
		case !parameterName.MatchString(parameter.Name):
			errs = append(errs, field.Invalid(path, parameter.Name, "does not match "+parameterName.String()))
		}
	}
	return errs
}

// validateStored checks a template that is to be stored.
func validateStored(t *Template) field.ErrorList {
	errs := validation.ValidateObjectMeta(&t.ObjectMeta, true, validation.NameIsDNSSubdomain, field.NewPath("metadata"))
	return append(errs, validateProcessed(t)...)
}

// validateUpdate checks no more than the metadata: a stored template may be changed into one that cannot
// be rendered.
func validateUpdate(t, old *Template) field.ErrorList {
	return validation.ValidateObjectMetaUpdate(&t.ObjectMeta, &old.ObjectMeta, field.NewPath("metadata"))
}
