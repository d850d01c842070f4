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

/** Replies to RCPT TO without an enhanced code that concern the mailbox: gone, moved, full, not allowed, failed. */
const MAILBOX_REPLIES = new Set([550, 551, 552, 553, 554]);

/** Enhanced codes that concern the address or mailbox; 5.2.2 (full) and 5.2.3 (message too long) may be temporary. */
const MAILBOX_CODES = /^5\.(1\.\d+|2\.(?![23]$)\d+)$/;

/** Phrases in replies that reject the sender, not the recipient. The operator must fix these. */
const ABOUT_THE_SENDER = /relay|authenticat|spam|block|policy|reputation|denied by|not permitted|tls required/i;

/** Codes of nodemailer, the system and timeouts that concern the server or our settings, not one mail. */
const SERVER_CODES = new Set(['EDNS', 'ETLS', 'EAUTH', 'ENOAUTH', 'EOAUTH2', 'EPROTOCOL', 'ECONFIG']);
const SYSTEM_CODES = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTDOWN']);
const SETUP_TIMEOUTS = new Set(['CONNECT_TIMEOUT', 'GREETING_TIMEOUT', 'UPGRADE_TIMEOUT']);

/** `permanent`: the server rejects this recipient; `unreachable`: no mail can be sent at the moment. */
export function smtpFailureOf(thrown: unknown) {
  const error = (thrown instanceof Error ? thrown : new Error(String(thrown))) as SmtpError;
  return {
    permanent: isPermanent(error),
    unreachable:
      SERVER_CODES.has(error.code ?? '') ||
      SYSTEM_CODES.has(error.originalCode ?? error.code ?? '') ||
      SETUP_TIMEOUTS.has(error.timeoutType ?? ''),
    problem: problemOf(thrown),
  };
}

function isPermanent({ command, responseCode = 0, response = '' }: SmtpError): boolean {
  if (command !== 'RCPT TO' || responseCode < 500 || responseCode > 599) return false;
  const [, enhanced] = /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})\b/.exec(response) ?? [];
  if (enhanced) return MAILBOX_CODES.test(enhanced);
  return MAILBOX_REPLIES.has(responseCode) && !ABOUT_THE_SENDER.test(response);
}
