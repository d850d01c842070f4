import { Refused } from '@app/rules';
import { fromRefused } from '../../apps/api/src/http/errors/refusals.js';
import { errorBody } from '../../apps/api/src/http/errors/error-formats.js';
import { pageOf, unlessRefused } from '../../apps/portal/src/web/refusals.js';

const OVERLAP = Refused.conflict('session_overlap', 'The tutor has a session then.', { session_id: 'x' });

describe('what a rule refused', () => {
  it.each([
    ['an unknown record', Refused.notFound(), 404, { error: { code: 'not_found' } }],
    [
      'a value',
      Refused.invalid('Too long.', 'parent', 'email'),
      422,
      { detail: [{ loc: ['body', 'parent', 'email'], msg: 'Too long.', type: 'value_error' }] },
    ],
    ['the record itself', Refused.invalid('Archived.'), 422, { detail: [{ loc: ['path', 'student_id'], msg: 'Archived.', type: 'value_error' }] }],
    [
      'a state, if documented',
      Refused.invalidState('completed', ['pending', 'scheduled']),
      409,
      { error: { code: 'invalid_state', details: { state: 'completed', allowed: ['pending', 'scheduled'] } } },
    ],
  ])('is a response of the API: %s', (_, refused, status, body) => {
    const error = fromRefused(refused, ['invalid_state'], { parent_id: '1', student_id: '2' })!;
    expect(error.status).toBe(status);
    expect(errorBody(error)).toMatchObject(body);
  });

  it('is our fault if it is a conflict that the operation does not document', () => {
    expect(fromRefused(OVERLAP, ['invalid_state'], {})).toBeNull();
    expect(fromRefused(Refused.invalidState('a', ['b']), [], {})).toBeNull();
  });

  it('is a page of the portal, or a message on the page of the form', async () => {
    expect([Refused.notFound(), OVERLAP, Refused.invalid('No.')].map((one) => pageOf(one).status)).toEqual([404, 409, 422]);
    const shown = (refused: Refused) => unlessRefused<unknown>(Promise.reject(refused), (flash) => flash);
    expect(await shown(OVERLAP)).toEqual({ kind: 'notice', text: 'The tutor has a lesson then.' });
    expect(await shown(Refused.invalid('No.'))).toEqual({ kind: 'problem', text: 'No.' });
    await expect(shown(Refused.notFound())).rejects.toThrow('No such record');
  });
});
