import { Erasures } from '@app/access';
import { one, writeController } from '../../../http/kit.js';
import { ErasePerson, erasureShape } from './people.dto.js';

export const ERASE_CONTROLLERS = [
  writeController({
    id: 'erase_person',
    route: 'POST /v1/people/:person_id/erase',
    status: 200,
    scope: 'erasure:write',
    summary: 'Asks to erase a student, tutor or parent whose membership has ended',
    description:
      'All owners are mailed. Nothing happens until one of them has confirmed it in the portal (`due_at` is null until then), and seven days more, in ' +
      'which an owner can call it off. The event `student.erased`, ' +
      '`tutor.erased` or `parent.erased` tells when it is done. Asked again, it changes nothing. 409: `still_belongs`, `is_manager` for somebody who ' +
      'managed the organization, `held` while an owner holds their data.',
    example: { keep_results: true },
    conflicts: ['still_belongs', 'is_manager', 'held'],
    body: ErasePerson,
    rules: [Erasures],
    answers: one(erasureShape),
    async run({ caller, organizationId, ids, body }, erasures) {
      const by = { userId: null, apiKeyId: caller.keyId };
      const asked = await erasures.ask(organizationId, by, ids.person_id, body.keep_results ?? false);
      return { changed: asked.changed, answer: await erasures.of(organizationId, ids.person_id) };
    },
  }),
];
