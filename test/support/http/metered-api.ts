import { type Scope, SCOPES } from '@app/accounts';
import { AnswerCheck } from './answer-check.js';
import { TestApi } from './api.js';
import { ApiProcess, buildOnce } from './api-process.js';
import { positionsOf } from './long-requests.js';
import { Metered } from './metered.js';
import { parametersOfReads } from './query-values.js';
import { keyedRoutes } from './routes.js';
import { createWorld } from '../data/world.js';

/** The API on a filled database, with a meter. */
export async function meteredApi(): Promise<Metered> {
  await buildOnce();
  const api = await TestApi.start();
  const world = await createWorld(api);
  const all = { scopes: Object.keys(SCOPES) as Scope[], platformBlog: true };
  const school = { ...world.a, key: await api.key(world.a.id, all) };
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
