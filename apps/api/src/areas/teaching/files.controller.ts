import { VALUES } from '@app/database';
import {
  byValue, instant, like, list, listController, nullable, oneOf, Source, text, uuid, View,
} from '../../http/kit.js'; // prettier-ignore

const { scope, resource_type } = VALUES.files;

/** Files by reference. */
const FILES = list({
  id: 'list_files',
  path: 'v1/files',
  summary: 'Lists files and links, newest first',
  description:
    'Files are kept by reference: `file_url` or `link_url` says where. Private files are listed too, so a key with `read` ' +
    'is to be kept as safe as they are.',
  view: new View('Resource', {
    id: uuid('f.id'),
    owner_id: nullable(uuid('f.owner_id')),
    scope: like(nullable(oneOf('f.scope', scope)), 'org'),
    title: nullable(text('f.title', 'Quadratics, worked examples')),
    resource_type: like(nullable(oneOf('f.resource_type', resource_type)), 'file'),
    file_url: nullable(text('f.file_url', 'https://files.example.com/quadratics.pdf')),
    link_url: like(nullable(text('f.link_url')), null),
    student_id: like(nullable(uuid('f.student_id')), null),
    classroom_id: like(nullable(uuid('f.classroom_id')), null),
    group_id: like(nullable(uuid('f.group_id')), null),
    folder_id: like(nullable(uuid('f.folder_id')), null),
    created_at: nullable(instant('f.created_at')),
  }),
  source: new Source('files', 'f'),
  parameters: [
    byValue('resource_type', resource_type, 'Only files of this type.'),
    byValue('scope', scope, 'Only files shared this way.'),
  ],
});

export const FILES_CONTROLLERS = [listController(FILES)];
