import sql from 'sql-template-tag';
import { nullable, recordController, Source, text, texts, uuid, View } from '../../http/kit.js';

const PING = recordController({
  id: 'ping',
  path: 'v1/ping',
  summary: 'Checks the key and names its organization',
  source: Source.organization(),
  view: new View('Ping', {
    status: text(`'ok'`, 'ok'),
    org_id: uuid('o.id'),
    org_name: nullable(text('o.name', 'Demo Tutoring')),
  }),
});

const ME = recordController({
  id: 'get_me',
  path: 'v1/me',
  summary: 'Returns the organization and scopes of the key',
  description: '`timezone` is the one in which days are meant; all sums are in `currency`.',
  source: ({ scopes }) => Source.organization(sql`CROSS JOIN (SELECT ${[...scopes]}::text[] AS scopes) granted`),
  view: new View('Me', {
    org_id: uuid('o.id'),
    org_name: nullable(text('o.name', 'Demo Tutoring')),
    org_slug: nullable(text('o.slug', 'demo')),
    timezone: text('o.time_zone', 'Australia/Melbourne'),
    currency: text('o.currency', 'AUD'),
    scopes: texts('granted.scopes', { type: 'string', examples: ['read'] }),
  }),
});

export const ME_CONTROLLERS = [PING, ME];
