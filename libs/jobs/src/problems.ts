/** Why a message was not sent. Only these codes are stored and logged: a server's reply may repeat an address. See docs/outbox.md. */
export const PROBLEMS = {
  'smtp_<reply>':
    'The mail server replied with this code. A 4xx is temporary; a 5xx rejects the recipient or the sender.',
  'http_<status>': 'The receiver responded with this status instead of a 2xx. Redirects are not followed.',
  timeout: 'The server took too long to respond.',
  connection_refused: 'Nothing is listening at this address.',
  connection_lost: 'The connection was lost.',
  host_not_found: 'The host name cannot be resolved.',
  host_unreachable: 'The host cannot be reached.',
  tls_failed: 'No secure connection could be established: check the certificate.',
  authentication_failed: 'The mail server rejected the user name or password in SMTP_URL.',
  protocol_error: 'The server does not speak the expected protocol.',
  settings_invalid: 'The address or its options are invalid.',
  message_refused: 'The mail server rejected the message without saying why.',
  file_not_written: 'The mail could not be written to the folder in SMTP_URL.',
  mailbox_unknown: 'The mail server says that there is no such mailbox. Check the address.',
  many_refused: 'The mail server refuses many addresses, as it does when something is wrong with the sender.',
  smtputf8_missing:
    'The part before the @ has letters that the mail server cannot deliver to: it does not offer SMTPUTF8.',
  address_suppressed:
    'The mail server has said twice that there is no such mailbox. Nothing is sent until it is allowed again.',
  link_closed: 'The link in the mail is no longer valid, so the mail was not sent.',
  not_manager: 'The recipient no longer manages the organization, so the notice was not sent.',
  reason_gone: 'What the mail was about has changed since it was queued, so it was not sent.',
  earlier_mail: 'Another mail to the same person was being sent. This one follows it.',
  address_not_public:
    'The address is not one that may be called: https on port 443 or 8443, on the public internet. The operator can admit others.',
  connection_failed:
    'The receiver of webhooks could not be reached, or the connection broke: check its name, its certificate, and whether it runs.',
  event_expired: 'The event is no longer kept, so it was not delivered.',
  no_hook: 'No build hook is set, so there was nothing to call.',
  payload_unreadable: 'The message cannot be decrypted: was ENCRYPTION_KEY changed?',
  secret_unreadable: 'The secret cannot be decrypted: was ENCRYPTION_KEY changed? Replace it.',
  template_missing: 'This build has no template for the mail: is the worker older than the API?',
  internal_error: "An error in the service; see the worker's log.",
  unknown: 'Any other problem, or one stored by an earlier version.',
} as const;

/** A stored code, with a number in place of `<reply>` or `<status>`. */
export type Problem = Exclude<keyof typeof PROBLEMS, `${string}<${string}`> | `smtp_${number}` | `http_${number}`;

/** The description of a code. */
export function inWords(code: string): string {
  const name = code.replace(/^smtp_\d+$/, 'smtp_<reply>').replace(/^http_\d+$/, 'http_<status>');
  return name in PROBLEMS ? PROBLEMS[name as keyof typeof PROBLEMS] : PROBLEMS.unknown;
}

/** Codes of Node, OpenSSL, undici and nodemailer. */
const CODES: [RegExp, Problem][] = [
  [/^(EAUTH|ENOAUTH|EOAUTH2)$/, 'authentication_failed'],
  [/^ENOSMTPUTF8$/, 'smtputf8_missing'],
  [/^ECONNREFUSED$/, 'connection_refused'],
  [/^(ENOTFOUND|EAI_AGAIN|EDNS)$/, 'host_not_found'],
  [/^(EHOSTUNREACH|ENETUNREACH|EHOSTDOWN)$/, 'host_unreachable'],
  [/TIMEOUT$|^ETIMEDOUT$/, 'timeout'],
  [/^ETLS$|^ERR_(TLS|SSL)|CERT|^(UNABLE_TO|HOSTNAME_MISMATCH)/, 'tls_failed'],
  [/^(ECONNRESET|EPIPE|ECONNECTION|ESOCKET|ECONNABORTED|UND_ERR_SOCKET)$/, 'connection_lost'],
  [/^(EPROTOCOL|HPE_\w+)$/, 'protocol_error'],
  [/^(ECONFIG|ERR_INVALID_URL)$/, 'settings_invalid'],
  [/^(EENVELOPE|EMESSAGE|ESTREAM)$/, 'message_refused'],
  [/^(ENOSPC|EDQUOT|EACCES|EPERM|EROFS|ENOENT|ENOTDIR|EMFILE|EIO)$/, 'file_not_written'],
];

/** The fields of errors of fetch and nodemailer. */
interface Carried {
  code?: unknown;
  originalCode?: unknown;
  timeoutType?: unknown;
  responseCode?: unknown;
}

/** The code for an error. It contains none of the error's text. */
export function problemOf(thrown: unknown): Problem {
  // fetch has the reason in `cause`.
  const error = (thrown instanceof Error ? (thrown.cause ?? thrown) : {}) as Carried;
  const { code, originalCode, timeoutType, responseCode } = error;
  const known = (name: unknown) => CODES.find(([pattern]) => typeof name === 'string' && pattern.test(name))?.[1];
  const first = known(code);
  if (first === 'authentication_failed') return first;
  if (typeof responseCode === 'number' && responseCode >= 100 && responseCode < 1000) return `smtp_${responseCode}`;
  return timeoutType ? 'timeout' : (known(originalCode) ?? first ?? 'unknown');
}
