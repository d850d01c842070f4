import { JoinFixture } from '../../support/portal/join-fixture.js';
import { PeoplePages } from '../../support/portal/people-pages.js';

const joining = await JoinFixture.shared();
const pages = await PeoplePages.open(joining);
const tutor = await joining.portal.make.tutor(pages.provisioning.id);

describe('after a confirmation that a form asked for', () => {
  it.each([
    ['the same filter', '?status=waiting&role=tutor', '?status=waiting&role=tutor'],
    ['the page of the person', `/${tutor.id}`, `/${tutor.id}`],
    ['the list, not another place', '/../../../account', ''],
    ['the list, not another host', 'https://attacker.example', ''],
    ['the list', '', ''],
  ])('somebody is back at %s', async (_where, from, rest) => {
    await joining.sql(`UPDATE portal_sessions SET confirmed_at = now() - interval '1 hour'`);
    const { headers } = await pages.owner.post(`${pages.base}/members/${tutor.id}/approve`, { from });
    expect(headers.location).toBe(`/confirm?next=${encodeURIComponent(pages.base + rest)}`);
  });
});
