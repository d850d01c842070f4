import { Vault } from '@app/config';
import { openEmail } from '@app/jobs';
import sharp from 'sharp';
import { JoinFixture } from '../../support/portal/join-fixture.js';
import { PeoplePages } from '../../support/portal/people-pages.js';

const joining = await JoinFixture.shared();
const { sql, portal } = joining;
const { make } = portal;
let pages: PeoplePages;
let page: string;
const here = () => pages.provisioning.id;

beforeEach(async () => {
  pages = await PeoplePages.open(joining);
  page = pages.base.replace('/people', '/settings/logo');
});

const picture = (background: string, width = 2_000, height = 500) => sharp({ create: { width, height, channels: 4, background } });
const stored = () =>
  sql<{ digest: string; png: string; in_use: true | null }>('SELECT * FROM logos WHERE organization_id = $1 ORDER BY created_at', here());
const owner = async () => (await portal.someone('owner', { organization: await make.find('organizations', here()) })).cookie;
const post = (fields: Record<string, string | Buffer>, cookie: string) => portal.post(page, fields, cookie);
const shown = (cookie: string) => portal.get(`${page}.png`, cookie).buffer(true);

it('is set, shown with words, replaced and taken away; owners are told, and the audit log names it', async () => {
  const cookie = await owner();
  expect((await portal.get(page, cookie)).text).toContain('There is none.');
  expect((await shown(cookie)).status).toBe(404);
  const photo = await picture('teal')
    .withExif({ IFD0: { Copyright: 'SECRET PLACE' } })
    .jpeg()
    .toBuffer();
  expect(photo.includes('SECRET PLACE')).toBe(true);
  const saved = await post({ picture: photo }, cookie);
  expect([saved.status, saved.headers.location]).toEqual([303, page]);
  const [first] = await stored();
  const png = Buffer.from(first!.png, 'base64');
  expect(await sharp(png).metadata()).toMatchObject({ format: 'png', width: 480, height: 120, hasAlpha: false });
  expect(png.includes('SECRET PLACE')).toBe(false);
  expect((await portal.get(page, cookie)).text).toMatch(/<img class="logo" src="[^"]+logo\.png" alt="Logo of Demo Tutoring[^"]*">/);
  const image = await shown(cookie);
  expect([image.headers['content-type'], image.headers['cache-control'], Buffer.compare(image.body as Buffer, png)]).toEqual([
    'image/png',
    'no-store',
    0,
  ]);
  // The same again is no change.
  await post({ picture: photo }, cookie);
  await post({ picture: await picture('maroon', 100, 100).webp().toBuffer() }, cookie);
  const [second, ...more] = await stored();
  expect([second!.in_use, second!.digest === first!.digest, more]).toEqual([true, false, []]);
  expect((await post({ picture: Buffer.alloc(0), remove: 'yes' }, cookie)).status).toBe(303);
  expect(await stored()).toEqual([]);
  expect((await pages.audited('change settings')).map((one) => (one as { fields: string[] }).fields)).toEqual([['logo'], ['logo'], ['logo']]);
  const mails = await sql<{ payload: Buffer; gathered: Buffer[] | null }>('SELECT payload, gathered FROM outbox WHERE organization_id = $1', here());
  const vault = portal.app.get(Vault, { strict: false });
  const told = mails.flatMap(({ payload, gathered }) =>
    [payload, ...(gathered ?? [])].flatMap((one) => openEmail(vault, one).settings?.changes ?? []),
  );
  expect(told).toContainEqual({ name: 'Logo', before: null, after: 'A picture' });
  expect(told).toContainEqual({ name: 'Logo', before: 'A picture', after: null });
});

it('stays while an issued invoice names it, and comes back into use', async () => {
  const cookie = await owner();
  const blue = await picture('blue', 60, 60).png().toBuffer();
  await post({ picture: blue }, cookie);
  const [first] = await stored();
  const child = await make.student(here());
  await make.invoice(here(), child.id, {
    invoiceNumber: 'INV-000001',
    status: 'open',
    amountDueCents: 100,
    taxCents: 0,
    snapshot: { seller: { logo: first!.digest } },
  });
  await post({ picture: await picture('red', 60, 60).png().toBuffer() }, cookie);
  expect((await stored()).map(({ in_use }) => in_use)).toEqual([null, true]);
  await post({ picture: blue }, cookie);
  expect(await stored()).toEqual([{ ...first, in_use: true }]);
  await post({ picture: Buffer.alloc(0), remove: 'yes' }, cookie);
  expect(await stored()).toEqual([{ ...first, in_use: null }]);
});

it.each<[string, () => Buffer | Promise<Buffer>, string]>([
  ['nothing', () => Buffer.alloc(0), 'Choose a picture.'],
  ['a text', () => Buffer.from('Not a picture'), 'Choose a PNG, JPEG, WebP, GIF or AVIF picture.'],
  ['an SVG', () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'Choose a PNG, JPEG, WebP, GIF or AVIF picture.'],
  ['half a picture', async () => (await picture('teal').png().toBuffer()).subarray(0, 300), 'The picture is damaged or incomplete.'],
  ['too many pixels', () => picture('teal', 9_000, 6_000).png().toBuffer(), 'too many pixels'],
  ['more than 5 MB', () => Buffer.alloc(5 * 1_048_576 + 1), 'Choose a picture of at most 5 MB.'],
  ['much more', () => Buffer.alloc(9 * 1_048_576), 'Choose a picture of at most 5 MB.'],
])('%s is refused at the field, and saves nothing', async (_what, made, said) => {
  const answer = await post({ picture: await made() }, await owner());
  expect(answer.status).toBe(422);
  expect(/<p class="error" id="field-picture-error">([^<]+)</.exec(answer.text)?.[1]).toContain(said);
  expect(answer.text).toContain('aria-invalid="true"');
  expect(await stored()).toEqual([]);
});

it('refuses bodies that are no such form', async () => {
  const cookie = await owner();
  const send = (type: string, body: string) => portal.post(page, {}, cookie).type(type).send(body);
  expect((await send('multipart/form-data; boundary=x', '--x\r\nContent-Disp')).status).toBe(400);
  expect((await send('multipart/form-data', 'nothing')).status).toBe(400);
  expect((await send('application/x-www-form-urlencoded', 'remove=yes')).status).toBe(400);
});

it('is the owners’ to change, the managers’ to see, and nobody else’s', async () => {
  const organization = await make.find('organizations', here());
  const blue = { picture: await picture('blue', 60, 60).png().toBuffer() };
  await post(blue, await owner());
  const admin = (await portal.someone('admin', { organization })).cookie;
  expect((await portal.get(page, admin)).text).toContain('Only owners can change it.');
  expect([(await shown(admin)).status, (await post(blue, admin)).status]).toEqual([200, 404]);
  const stranger = (await portal.someone('owner')).cookie;
  expect([(await portal.get(page, stranger)).status, (await shown(stranger)).status, (await post(blue, stranger)).status]).toEqual([404, 404, 404]);
  const other = await portal.someone('owner', { organization });
  expect((await post({ ...blue, person: other.user.id }, await owner())).status).toBe(409);
  expect((await stored()).length).toBe(1);
});
