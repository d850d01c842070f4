import { type Scope, SCOPES } from '@app/access';
import { AnswerCheck } from '../http/answer-check.js';
import { TestApi } from '../http/api.js';
import { ApiProcess, buildOnce } from '../http/api-process.js';
import { positionsOf } from '../fuzz/long-requests.js';
import { Metered } from './metered.js';
import { parametersOfReads } from '../fuzz/query-values.js';
import { keyedRoutes } from '../http/routes.js';
import { createFixtures } from '../data/fixtures.js';

/** The API on a filled database, with a meter. */
export async function meteredApi(): Promise<Metered> {
  await buildOnce();
  const api = await TestApi.start();
  const fixtures = await createFixtures(api);
  const all = { scopes: Object.keys(SCOPES) as Scope[], platformBlog: true };
  const school = { ...fixtures.a, key: await api.key(fixtures.a.id, all) };
  const check = new AnswerCheck();
  return Metered.open({
    positions: positionsOf(keyedRoutes(api), await parametersOfReads(api), school),
    start: (flags, settings) => ApiProcess.start({ DATABASE_URL: api.database.applicationUrl, ...settings }, flags),
    faults: (answer) => check.faults(answer),
    close: async () => {
      await api.stop();
    },
  });
}
