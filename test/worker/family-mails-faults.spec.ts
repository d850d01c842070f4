import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '../support/data/random.js';
import { Believer, MailedSchool } from '../support/faults/mailed-school.js';
import { inReport, reached, seedOf } from '../support/faults/promise.js';
import { buildOnce } from '../support/http/api-process.js';
import { inTest } from '../support/process/fixture.js';
import { FamilyPost } from '../support/worker/family-post.js';
import type { Received } from '../support/worker/smtp.js';
import type { WorkerProcess } from '../support/worker/worker-process.js';

/** Two workers, whose clocks are an hour apart, are killed while they mail families. The full run takes six minutes. */
const KILLS = Number(process.env.KILLS ?? inReport(100, 6));
const SEED = seedOf();
const random = new Random(SEED);
const HOUR = 3_600_000;
/** A mail that was being written when an invoice was settled may still go out (ms). */
const IN_HAND = 10_000;

/** The message of the outbox that a mail was. What says something else on another try has another id, which begins with the same. */
const messageOf = ({ headers }: Received) => /^<([0-9a-f-]{36})/.exec(headers['message-id']!)![1]!;

it(`workers killed ${KILLS} times while they mail families, by clocks that jump: each is told what is so, once, and nothing of another family`, async () => {
  await buildOnce();
  const post = await inTest(FamilyPost.open({ FAMILY_MAILS_PER_DAY: '100000', UNPROVEN_FAMILY_MAILS_PER_DAY: '100000' }));
  const { smtp, api } = post;
  const lunch = await MailedSchool.open(post, 'L', 12, 'reminders', random);
  const supper = await MailedSchool.open(post, 'S', 18, 'lessons_tomorrow', random);
  const schools = [lunch, supper];
  const each = async (work: (school: MailedSchool) => Promise<unknown>) => {
    for (const school of schools) await work(school);
  };
  let workers: WorkerProcess[] = [];
  onTestFinished(() => Promise.all(workers.map((worker) => worker.kill())).then(() => undefined));
  const hire = async () => workers.push(await post.hire(random.pick([-HOUR, 0, HOUR])));
  const pass = async () => {
    await each((school) => school.later(workers.map(({ leases }) => leases)));
    await api.make.query(`SELECT pg_notify('outbox', 'email')`);
  };
  /** All mails go out. */
  const rest = async () => {
    await each((school) => school.hour());
    const rests = () => pass().then(() => Promise.all(schools.map((school) => school.rests())));
    await vi.waitUntil(async () => (await rests()).every(Boolean), { timeout: 300_000, interval: 500 });
  };
  await hire();
  // What is booked already is noted, and the first evening told.
  await rest();
  const believers = new Map<string, Believer>();
  for (const school of schools) for (const address of school.addresses.values()) believers.set(address, new Believer(await school.has(address)));
  // This opens a window between acceptance and commit.
  smtp.atMessage = () => ({ waitMs: random.integer(15), ...(random.chance(0.1) && { code: 451, message: '4.3.2 busy' }) });
  let landed = 0;
  // Of kills while nothing is in hand, others are tried.
  let kills = 0;
  for (; kills < KILLS || (landed < KILLS * 0.2 && kills < 4 * KILLS); kills++) {
    await each(async (school) => {
      for (let more = random.integer(4); more > 0; more--) await school.act();
      if (random.chance(0.1)) await school.pay();
      if (random.chance(0.5)) await school.evening();
      if (random.chance(0.5)) await school.days();
      if (random.chance(0.3)) await school.jump(random.chance(0.5), workers.map(({ leases }) => leases)); // prettier-ignore
      await school.hour();
    });
    // It looks at what has happened as soon as it starts.
    await hire();
    await sleep(random.integer(2_000));
    const before = smtp.received.length;
    await pass();
    const more = before + 1 + random.integer(4);
    await Promise.all([
      each((school) => school.act()),
      vi.waitUntil(() => smtp.received.length >= more, { timeout: 1_500, interval: 2 }).catch(() => undefined),
    ]);
    await sleep(random.integer(20));
    const victim = random.pick(workers);
    await victim.kill();
    workers = workers.filter((worker) => worker !== victim);
    const [held] = await api.make.query<{ n: number }>(`SELECT count(*)::integer AS n FROM outbox WHERE leased_by LIKE $1`, [victim.leases]);
    if (held!.n > 0) landed++;
    // The server takes what it has the whole of, whoever sent it.
    await sleep(50);
  }
  smtp.atMessage = () => undefined;
  await hire();
  await rest();
  await Promise.all(workers.map((worker) => worker.stop()));

  const wrong: string[] = [];
  for (const mail of smtp.received) {
    believers.get(mail.to)!.hear(mail);
    for (const school of schools)
      for (const [, subject] of mail.text.matchAll(new RegExp(`\\b(${school.name}\\d+)\\b`, 'g')))
        if (!school.lessons.get(subject!)!.may.has(mail.to)) wrong.push(`${mail.to} was told of ${subject}`);
  }
  for (const school of schools)
    for (const address of new Set(school.addresses.values()))
      expect(believers.get(address)!.lessons, `what ${address} believes`).toEqual(await school.has(address));
  const sent = new Map(smtp.received.map((mail) => [messageOf(mail), mail]));
  const doubled = smtp.received.length - sent.size;
  const reminders = lunch.invoices.map(({ number, payer, paidAt }) => {
    const mine = [...sent.values()].filter(({ headers }) => headers.subject!.includes(number));
    wrong.push(...mine.filter(({ to }) => to !== payer).map(({ to }) => `${to} was reminded of ${number}`));
    wrong.push(...smtp.received.filter((one) => mine.includes(one) && paidAt !== null && one.at > paidAt + IN_HAND).map(() => `a reminder of ${number}, which is paid`));
    if (paidAt === null ? mine.length !== lunch.crossed : mine.length > lunch.crossed) wrong.push(`${mine.length} reminders of ${number}`);
    return mine.length;
  }); // prettier-ignore
  for (const address of new Set(supper.addresses.values())) {
    const evenings = [...sent.values()].filter(({ to, headers }) => to === address && headers.subject!.includes('tomorrow'));
    if (evenings.length !== supper.evenings) wrong.push(`${address} was told of ${evenings.length} of ${supper.evenings} evenings`);
  }
  const told = reminders.reduce((sum, count) => sum + count, 0);
  reached(
    67,
    `${wrong.length} wrong of ${sent.size} mails (${told} reminders, ${supper.evenings} evenings), ${doubled} duplicates in ${kills} kills (${landed} with mails in hand), ` +
      `${lunch.jumps + supper.jumps} jumps of the clock`,
    SEED,
  );
  expect(wrong).toEqual([]);
  expect(doubled).toBeLessThanOrEqual(landed);
  // Otherwise nothing was proven.
  expect(landed).toBeGreaterThanOrEqual(KILLS * 0.2);
});
