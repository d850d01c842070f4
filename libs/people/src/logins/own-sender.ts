import type { Env } from '@app/config';
import type { EmailSender } from '@app/jobs';

/** The sender of mails that no organization sends: the service itself, under the name in MAIL_FROM. */
export function ownSender(env: Env): EmailSender {
  const name = /^\s*"?([^"<]+?)"?\s*</.exec(env.get('MAIL_FROM'))?.[1] ?? 'Tutoring';
  return { name, timeZone: 'UTC' };
}
