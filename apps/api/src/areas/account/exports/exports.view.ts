import { VALUES } from '@app/database';
import { instant, integer, list, nullable, oneOf, Source, uuid, View } from '../../../http/kit.js';

export const EXPORTS = list({
  id: 'list_exports',
  path: 'v1/exports',
  summary: 'Lists the exports of the organization’s data, newest first',
  description:
    '`asked`: an owner has to confirm it; `waiting`, `preparing`; `ready`: owners can download it until `expires_at`; `downloaded`, `expired` or ' +
    '`called_off`: it has ended, and its file is deleted.',
  view: new View('Export', {
    id: uuid('e.id'),
    status: oneOf('e.status', VALUES.exports.status),
    created_at: instant('e.created_at'),
    confirmed_at: nullable(instant('e.confirmed_at')),
    ready_at: nullable(instant('e.ready_at')),
    ended_at: nullable(instant('e.ended_at')),
    expires_at: nullable(instant('e.expires_at')),
    size_bytes: nullable(integer('e.bytes', { minimum: 1, examples: [1048576] })),
  }),
  source: new Source('exports', 'e'),
});
