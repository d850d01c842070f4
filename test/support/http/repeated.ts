import { setTimeout as sleep } from 'node:timers/promises';

const MOST = 50;

/**
 * Repeats a request that a busy machine refuses with 503, as clients do.
 *
 * @param refused called for each refusal
 */
export async function repeated<Answer extends { status: number }>(
  send: () => PromiseLike<Answer>,
  refused: () => void = () => undefined,
): Promise<Answer> {
  for (let time = 1; ; time++) {
    const answer = await send();
    if (answer.status !== 503 || time === MOST) return answer;
    refused();
    await sleep(200);
  }
}
