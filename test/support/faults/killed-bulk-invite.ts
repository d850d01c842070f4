import { buildOnce } from '../http/api-process.js';
import { answerOf, KillHarness, LANDED, type KillPlan, type KillReport } from './kill-harness.js';
import { ApiVictim, NaiveVictim } from './victims.js';
import { reached } from './promise.js';

/** Every nth kill comes right after a commit, which random kills rarely hit. */
const TRAPPED = 10;
/** Duplicates that the harness must find in the naive API. */
const GUILTY = 100;
const INNOCENT = { duplicates: 0, losses: 0, mailsTwice: 0, mailsLost: 0, differing: 0, unanswered: 0 };
const CREATED = { total: 100, ok: 100, exists: 0, errors: 0, created: 100 };

/** Promise 1: a retried bulk invite never duplicates or loses anything, no matter when the process dies. */
export function killedBulkInvite(kills: number, naive: Record<string, Omit<KillPlan, 'seed'>>): void {
  const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);

  it(`${kills} times: no account, mail or answer is duplicated or lost`, async () => {
    await buildOnce();
    const victim = await ApiVictim.open();
    try {
      const moment = (kill: number) => (kill % TRAPPED === 0 ? victim.trap.spring() : null);
      const report = await KillHarness.run(victim, { kills, atOnce: 2, seed, moment });
      tell('the API', report, seed);
      reached(
        1,
        `${report.kills} kills, ${report.landed} mid-request: ${report.duplicates} duplicates, ${report.losses} losses, ` +
          `${report.differing} rounds with differing answers`,
        seed,
      );
      expect(report.landed).toBeGreaterThanOrEqual(kills * LANDED);
      expect(report.afterCommit).toBeGreaterThanOrEqual(kills / TRAPPED);
      const { duplicates, losses, mailsTwice, mailsLost, differing, unanswered } = report;
      expect({ duplicates, losses, mailsTwice, mailsLost, differing, unanswered }).toEqual(INNOCENT);
      for (const { answers } of report.rounds) expect(answerOf(answers[0]!).summary).toEqual(CREATED);
      expect(await victim.leftovers(report)).toEqual([]);
    } finally {
      await victim.close();
    }
  });

  it.each(Object.entries(naive))('catches a naive API, %s', async (name, plan) => {
    const victim = await NaiveVictim.open();
    try {
      const report = await KillHarness.run(victim, { ...plan, seed });
      tell(`a naive API, ${name}`, report, seed);
      reached(1, `a naive API, ${name}: ${report.duplicates} duplicates`);
      expect(report.landed).toBeGreaterThanOrEqual(plan.kills * LANDED);
      expect(report.duplicates).toBeGreaterThan(GUILTY);
    } finally {
      await victim.close();
    }
  });
}

function tell(whom: string, report: KillReport, seed: number): void {
  const { kills, landed, afterCommit, duplicates, losses, mailsTwice, mailsLost, differing, unanswered } = report;
  process.stdout.write(
    `killed-bulk-invite: ${whom}: ${kills} kills, ${landed} mid-request (${afterCommit} of them after the commit), ` +
      `${duplicates} duplicates, ${losses} losses, ${mailsTwice} mails twice, ${mailsLost} mails lost, ` +
      `${differing} rounds with differing answers, ${unanswered} clients unanswered, seed ${seed}\n`,
  );
}
