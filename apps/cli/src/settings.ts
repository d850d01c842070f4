import type { Command } from 'commander';
import { loadEnv } from '@app/config';

/** What a command reads besides the owner's URL. In production, those in `links` have to be set. */
interface Reads {
  links?: ('APP_URL' | 'PUBLIC_URL')[];
  also?: string[];
}

const URLS = ['DATABASE_URL', 'WORKER_DATABASE_URL', 'PORTAL_DATABASE_URL'];
/** A mail is written by the command, and sent by the worker. */
const MAILS: Reads = { links: ['APP_URL'], also: ['SMTP_URL', 'ENCRYPTION_KEY'] };
const AS_PORTAL = ['PORTAL_DATABASE_URL'];
const KEYS: Reads = { also: [...AS_PORTAL, 'API_KEY_PREFIX'] };
const PRINTS_CALL: Reads = { ...KEYS, links: ['PUBLIC_URL'] };
const SEALS: Reads = { also: ['ENCRYPTION_KEY'] };

/** By command. Those that are not listed read the owner's URL only. */
const READS: Record<string, Reads> = {
  'owner create': MAILS,
  'owner promote': { ...MAILS, also: [...AS_PORTAL, ...MAILS.also!] },
  'member remove': { ...MAILS, also: [...AS_PORTAL, ...MAILS.also!] },
  'key create': PRINTS_CALL,
  'key replace': PRINTS_CALL,
  'key list': KEYS,
  'key revoke': KEYS,
  'hook set': SEALS,
  'hook rotate': SEALS,
  'outbox show': SEALS,
  import: SEALS,
  move: { links: ['PUBLIC_URL'], also: ['ENCRYPTION_KEY', 'STORAGE'] },
  demo: { also: [...AS_PORTAL, 'ENCRYPTION_KEY'] },
  roles: { also: ['ADMIN_DATABASE_URL', ...URLS] },
  migrate: { also: URLS },
  doctor: { also: ['every other setting of the processes'] },
  start: { also: ['every other setting'] },
};

/** Lets each command say which settings it reads, and refuse to start without those that its links need. */
export function declareSettings(program: Command): void {
  for (const command of leavesOf(program)) {
    const { links = [], also = [] } = READS[nameOf(command)] ?? {};
    command.addHelpText('after', `\nReads: ${['MIGRATION_DATABASE_URL', ...links, ...also].join(', ')}.`);
    command.hook('preAction', () => {
      loadEnv().needForLinks(links);
    });
  }
}

function leavesOf(command: Command): Command[] {
  return command.commands.length > 0 ? command.commands.flatMap(leavesOf) : [command];
}

/** The words to type: `owner create`. */
function nameOf(command: Command): string {
  const above = command.parent?.parent ? `${nameOf(command.parent)} ` : '';
  return above + command.name();
}
