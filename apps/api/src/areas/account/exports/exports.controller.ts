import { Exports } from '@app/exports';
import { listController, recordController, writeController } from '../../../http/kit.js';
import { EXPORTS } from './exports.view.js';

export const EXPORTS_CONTROLLERS = [
  listController(EXPORTS),
  recordController({
    ...EXPORTS,
    id: 'get_export',
    path: 'v1/exports/:export_id',
    summary: 'Returns one export',
    description: 'The file itself is for owners, in the portal.',
  }),
  writeController({
    id: 'create_export',
    route: 'POST /v1/exports',
    scope: 'exports:write',
    summary: 'Asks for an export of all data of the organization',
    description:
      'All owners are mailed. Once one of them has confirmed it in the portal, it is prepared; owners can download it there, once, within 7 days. ' +
      'While there is one that has not ended, it is returned, and nothing changes.',
    rules: [Exports],
    answers: EXPORTS,
    idName: 'export_id',
    run: ({ organizationId, caller }, exports) => exports.ask(organizationId, caller.keyId),
  }),
];
