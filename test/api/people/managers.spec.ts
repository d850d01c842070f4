import { TenancySweep } from '../../support/http/tenancy-sweep.js';
import { isUpload, validWrites, writesOf } from '../../support/http/record-for.js';
import { fixture } from '../../support/process/fixture.js';

const sweep = await fixture(TenancySweep.open());

it('no write with every scope changes the address of an owner or admin, whatever of it names them', async () => {
  const { api, fixtures } = sweep;
  const { make, a: school } = fixtures;
  const parent = await make.parent(school.id, { children: [school.path.student_id!] });
  await make.query(`UPDATE members SET role = 'admin' WHERE organization_id = $1 AND user_id = $2`, [school.id, school.path.tutor_id]);
  const managers = [
    await make.member(school.id, { role: 'owner' }),
    await make.member(school.id, { role: 'admin' }),
    // An admin who is also a parent.
    await make.member(school.id, { role: 'admin', user: { id: parent.id } }),
  ];
  const logins = () =>
    make.query(`SELECT to_jsonb(u) - 'first_name' - 'last_name' - 'updated_at' AS login FROM users u WHERE id = ANY ($1) ORDER BY id`, [
      managers.map(({ id }) => id),
    ]);
  const before = await logins();
  const changed: string[] = [];
  /** Other bodies of a route have the same fields. */
  const places = new Set<string>();
  let sent = 0;
  for (const write of await validWrites(
    writesOf(api).filter((route) => !isUpload(route)),
    make,
    school,
  )) {
    const request = JSON.stringify([write.path, write.body]);
    const named = new Set(request.match(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[^"\s]+@[^"\s]+/g));
    for (const value of named) {
      const fields = [...request.matchAll(/"(\w+)":\[?"([^"]+)"/g)].filter(([, , text]) => text === value).map(([, name]) => name);
      const place = `${write.operation} ${write.path.includes(value)} ${fields.join()}`;
      if (places.has(place)) continue;
      places.add(place);
      for (const { id, email } of managers) {
        // A field that the operation knows for an address, or any that a careless one could take.
        const [path, body] = JSON.parse(request.replaceAll(value, value.includes('@') ? email : id)) as [string, object?];
        await sweep.write({ ...write, path, body: { ...body } }, school);
        await sweep.write({ ...write, path, body: { ...body, email: 'taken@example.org', phone: '+61 400 000 000' } }, school);
        sent += 2;
      }
      if (JSON.stringify(await logins()) !== JSON.stringify(before)) changed.push(place);
    }
  }
  expect(changed).toEqual([]);
  expect(sent).toBeGreaterThan(300);
});
