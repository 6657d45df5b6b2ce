package tlsrecord

import (
	"errors"
	"fmt"
)

// AlertCode is the reason in an alert.
type AlertCode uint8

// Alerts that this package sends or knows.
const (
	CloseNotify         AlertCode = 0
	UnexpectedMessage   AlertCode = 10
	BadRecordMAC        AlertCode = 20
	RecordOverflow      AlertCode = 22
	HandshakeFailure    AlertCode = 40
	BadCertificate      AlertCode = 42
	CertificateRevoked  AlertCode = 44
	CertificateExpired  AlertCode = 45
	CertificateUnknown  AlertCode = 46
	UnknownCA           AlertCode = 48
	AccessDenied        AlertCode = 49
	DecodeError         AlertCode = 50
	InternalError       AlertCode = 80
	UserCanceled        AlertCode = 90
	CertificateRequired AlertCode = 116
)

var alertNames = map[AlertCode]string{
	CloseNotify: "close notify", UnexpectedMessage: "unexpected message", BadRecordMAC: "bad record MAC", RecordOverflow: "record overflow",
	HandshakeFailure: "handshake failure", BadCertificate: "bad certificate", CertificateRevoked: "certificate revoked",
	CertificateExpired: "certificate expired", CertificateUnknown: "certificate unknown", UnknownCA: "unknown certificate authority",
	AccessDenied: "access denied", DecodeError: "decode error", InternalError: "internal error", UserCanceled: "canceled",
	CertificateRequired: "certificate required",
}

func (a AlertCode) String() string {
	if s, ok := alertNames[a]; ok {
		return s
	}
	return fmt.Sprintf("alert %d", uint8(a))
}

// Error is a violation of the protocol by the peer, and the alert to answer with.
type Error struct {
	Alert AlertCode
	What  string
}

func (e *Error) Error() string { return "TLS: " + e.What }

func unexpected(what string) error { return &Error{Alert: UnexpectedMessage, What: what} }

// AlertError is an alert of the peer that ends the connection.
type AlertError AlertCode

func (e AlertError) Error() string {
	if AlertCode(e) == BadRecordMAC {
		return "TLS: the peer says that data was changed on its way to it"
	}
	return "TLS: the peer says: " + AlertCode(e).String()
}

// ErrTruncated says that a connection has ended without the peer's having said so: anybody on the way may have cut it.
var ErrTruncated = errors.New("TLS: the connection has ended without a close notify")
