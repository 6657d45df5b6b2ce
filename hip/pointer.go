package hip

// PointerAttributeKnown judges an attribute that hipPointerGetAttribute is asked
// for: Success, ErrorNotSupported for those that AMD's runtime does not have, and
// ErrorInvalidValue for what is no attribute.
func PointerAttributeKnown(a PointerAttribute) Error {
	switch a {
	case DrvPointerAttributeContext, DrvPointerAttributeP2pTokens, DrvPointerAttributeIsLegacyHipIpcCapable,
		DrvPointerAttributeAllowedHandleTypes, DrvPointerAttributeIsGpuDirectRdmaCapable, DrvPointerAttributeMempoolHandle:
		return ErrorNotSupported
	}
	if a < DrvPointerAttributeContext || a > DrvPointerAttributeMempoolHandle {
		return ErrorInvalidValue
	}
	return Success
}
