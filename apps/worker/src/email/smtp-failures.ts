import { problemOf } from '@app/jobs';

/** The fields of nodemailer's errors. */
interface SmtpError extends Error {
  code?: string;
  originalCode?: string;
  timeoutType?: string;
  command?: string;
  responseCode?: number;
  response?: string;
}

/** Enhanced codes (RFC 3463, 7505) that say that there is no such mailbox: unknown, no such domain, moved away, no mail, closed. */
const NO_MAILBOX_CODES = new Set(['5.1.1', '5.1.2', '5.1.6', '5.1.10', '5.2.1']);

/** The same in words, for replies without an enhanced code. "Mailbox unavailable" is not among them: RFC 5321 uses it for policies too. */
const NO_MAILBOX_WORDS = new RegExp(
  [
    String.raw`\b(no such|unknown|non-?existent) (local )?(user|recipient|mail ?box|account|address|person)`,
    String.raw`\b(user|recipient|mail ?box|account|address|addressee)( \S+)?( is| was)? (unknown|not found|no longer (exists|active))`,
    String.raw`\b(user|recipient|mail ?box|account|address)( \S+)? (does not|doesn['’]t|did not|do not) exist`,
    String.raw`\b(mail ?box|account)( \S+)? (is |has been )?(closed|disabled|deactivated|discontinued|inactive)`,
    String.raw`\bdoes(n['’]t| not) have (an? )?\S+ account`,
    String.raw`\binvalid (user|recipient|mail ?box)\b`,
    String.raw`\bthere is no one (here )?(at|by|with)`,
  ].join('|'),
  'i',
);

/**
 * Words of replies about the sender, its server, its rate, a policy, a quota or the message. They outweigh everything else: taken for a missing
 * mailbox, such a reply would silence an address that works, while the opposite mistake costs seven more tries.
 */
const ABOUT_SOMETHING_ELSE = new RegExp(
  [
    String.raw`\bsender\b|\bhelo\b|\behlo\b|\bspf\b|\bdkim\b|\bdmarc\b|\bptr\b|\br(everse )?dns\b|\bhost ?name\b|\bclient\b`,
    String.raw`spam|\bjunk\b|virus|malware|unsolicited|\bcontent\b|reputation|polic(y|ies)|authenticat|authoriz|\btls\b|encrypt`,
    String.raw`block(ed|ing|list)|black ?list|deny ?list|\brbl\b|(?<!not )\blisted\b|\bbanned\b|gr[ea]y-?list`,
    String.raw`\brate\b|\blimit|too (many|much|large|big|fast)|quota|storage|exceed|\bfull\b|\bsize\b|\bdaily\b|throttl`,
    String.raw`verif(y|ication) failed|unverified|cannot verify|relay(ing)? (access )?(is )?(denied|not)|unable to relay|not permitted|access denied`,
    String.raw`temporar|\btry again\b|\blater\b|not now|\byour (ip|server|host|domain|message)\b`,
  ].join('|'),
  'i',
);

/** Codes of nodemailer, the system and timeouts that concern the server or our settings, not one mail. */
const SERVER_CODES = new Set(['EDNS', 'ETLS', 'EAUTH', 'ENOAUTH', 'EOAUTH2', 'EPROTOCOL', 'ECONFIG']);
const SYSTEM_CODES = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTDOWN']);
const SETUP_TIMEOUTS = new Set(['CONNECT_TIMEOUT', 'GREETING_TIMEOUT', 'UPGRADE_TIMEOUT']);

/** `noMailbox`: the server says that there is no such mailbox; `refused`: it answered with an error of any kind; `unreachable`: no mail can be sent at the moment. */
export function smtpFailureOf(thrown: unknown) {
  const error = (thrown instanceof Error ? thrown : new Error(String(thrown))) as SmtpError;
  return {
    noMailbox: saysNoMailbox(error),
    refused: error.responseCode !== undefined,
    unreachable:
      SERVER_CODES.has(error.code ?? '') ||
      SYSTEM_CODES.has(error.originalCode ?? error.code ?? '') ||
      SETUP_TIMEOUTS.has(error.timeoutType ?? ''),
    problem: problemOf(thrown),
  };
}

/** Some servers know their mailboxes only once they have the whole mail, so the reply to its end counts like one to RCPT TO. */
function saysNoMailbox({ command, responseCode = 0, response = '' }: SmtpError): boolean {
  if ((command !== 'RCPT TO' && command !== 'DATA') || responseCode < 500 || responseCode > 599) return false;
  if (ABOUT_SOMETHING_ELSE.test(response)) return false;
  const [, enhanced] = /^\d{3}[ -]#?(\d\.\d{1,3}\.\d{1,3})\b/.exec(response) ?? [];
  return enhanced ? NO_MAILBOX_CODES.has(enhanced) : NO_MAILBOX_WORDS.test(response);
}
