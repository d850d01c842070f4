import { setTimeout as sleep } from 'node:timers/promises';
import supertest from 'supertest';
import { Database } from '@app/database';
import { Fairness } from '../../../apps/api/src/http/request/fairness.js';
import { PLACES, pointOf, refreshed, RoadFixture } from '../../support/data/road-fixture.js';
import { TestApi } from '../../support/http/api.js';
import { json, RoutingServer, tablesFor } from '../../support/http/routing-server.js';

const { api, routing, school, reset } = await RoadFixture.open();
const { make } = api;

describe('the routing service', () => {
  it('is sent coordinates of postcodes where tutors live, of all places around them, and nothing else', async () => {
    const own = await school('A1', 'A3');
    await own.refresh('?minutes=45', own.key, { 'X-Request-Id': 'a-request', Referer: 'https://school.example.org' });
    const known = Object.keys(PLACES).map((postcode) => pointOf(postcode as keyof typeof PLACES));
    expect(routing.asked.length).toBe(2);
    for (const { method, url, headers, body } of routing.asked) {
      expect([method, body]).toEqual(['GET', '']);
      expect(url).toMatch(/^\/table\/v1\/driving\/(-?\d+\.\d{5},-?\d+\.\d{5};?)+\?sources=0&annotations=duration,distance&generate_hints=false$/);
      const { host, 'user-agent': agent, ...others } = headers;
      expect([`http://${host as string}`, agent]).toEqual([routing.url, 'tutoring-api']);
      const usual = ['accept', 'accept-encoding', 'accept-language', 'connection', 'sec-fetch-mode'];
      expect(Object.keys(others).filter((name) => !usual.includes(name))).toEqual([]);
      expect(others['accept-language']).toBe('*');
    }
    for (const asked of routing.places) {
      expect(asked.filter((point) => !known.includes(point))).toEqual([]);
      // Whether any student lives there makes no difference.
      expect(new Set(asked)).toEqual(new Set([pointOf('A1'), pointOf('A2'), pointOf('A3'), pointOf('A4')]));
    }
  });

  it('is asked by nothing but a refresh', async () => {
    const own = await school('A1');
    for (const path of ['tutors?postcode=A2&mode=in_person', 'summary?postcode=A2', 'gaps']) {
      expect((await api.get(`/v1/coverage/${path}`, own.reading)).status).toBe(200);
    }
    await own.roads();
    expect(routing.asked).toEqual([]);
  });

  it.each<[string, string, RoutingServer['answer']]>([
    ['never answers', 'timeout', () => undefined],
    [
      'drips',
      'timeout',
      (_, response) => {
        const drip = setInterval(() => response.write(' '), 50);
        response.once('close', () => {
          clearInterval(drip);
        });
      },
    ],
    ['hangs up', 'UND_ERR_SOCKET', (request) => request.socket.destroy()],
    ['hangs up in the middle', 'UND_ERR_SOCKET', (request, response) => response.write('{', () => request.socket.destroy())],
    ['does not speak HTTP', 'connection_failed', (request) => request.socket.end('SSH-2.0-OpenSSH_9.9\r\n\r\n')],
    [
      'answers without end',
      'answer_too_long',
      (_, response) => {
        const more = () => {
          if (!response.destroyed) response.write(' '.repeat(65_536), more);
        };
        more();
      },
    ],
    [
      'refuses',
      'http_400',
      (_, response) => {
        json(response, { code: 'NoSegment', message: '-37.00000,145.00000' }, 400);
      },
    ],
    [
      'fails',
      'http_500',
      (_, response) => {
        response.writeHead(500).end('-37.00000,145.00000');
      },
    ],
    [
      'redirects',
      'http_302',
      (_, response) => {
        response.writeHead(302, { Location: `${routing.url}/elsewhere` }).end();
      },
    ],
    ['answers with a page', 'not_json', (_, response) => response.end('<html>-37.00000,145.00000')],
    ['answers with nothing', 'not_json', (_, response) => response.end()],
    [
      'answers with null',
      'not_a_table',
      (_, response) => {
        json(response, null);
      },
    ],
    ['answers with nesting', 'not_a_table', (_, response) => response.end('['.repeat(100_000) + ']'.repeat(100_000))],
    [
      'has no table',
      'not_a_table',
      (_, response) => {
        json(response, { code: 'NoTable' });
      },
    ],
    [
      'has no distances',
      'not_a_table',
      ({ url }, response) => {
        json(response, { ...tablesFor(url!), distances: undefined });
      },
    ],
    [
      'is not sure',
      'not_a_table',
      ({ url }, response) => {
        json(response, { ...tablesFor(url!), code: undefined });
      },
    ],
    ...(['text', -1, 1e300, {}, [], true] as unknown[]).map((odd): [string, string, RoutingServer['answer']] => [
      `has ${JSON.stringify(odd)} for a number`,
      'not_a_table',
      ({ url }, response) => {
        json(
          response,
          tablesFor(url!, (row) => [...row.slice(1), odd]),
        );
      },
    ]),
    [
      'has a row too short',
      'not_a_table',
      ({ url }, response) => {
        json(
          response,
          tablesFor(url!, (row) => row.slice(1)),
        );
      },
    ],
    [
      'has a row too long',
      'not_a_table',
      ({ url }, response) => {
        json(
          response,
          tablesFor(url!, (row) => [...row, 1]),
        );
      },
    ],
  ])('that %s is a failure in the answer, the log says %s, and what was known stays', async (_what, problem, answer) => {
    // prettier-ignore
    const own = await school('A1');
    await own.refresh();
    await own.tutor('A2');
    await own.tutor('A2');
    routing.asked.length = 0;
    routing.answer = answer;
    const logged = api.logged.length;
    expect(await own.refresh()).toMatchObject({ status: 200, body: refreshed(0, 1, 2) });
    expect(routing.asked).toHaveLength(1);
    const lines = api.logged.slice(logged).join('\n');
    expect(lines).toContain('"code":"routing_failed"');
    expect(lines).toContain(`"${problem}"`);
    expect(lines).not.toContain('145.0000');
    expect((await own.roads())[own.tutors[0]!]).toMatchObject({ road_minutes: 6 });
    reset();
    expect((await own.refresh()).body).toEqual(refreshed(2, 1, 0));
  });

  it('that knows no road to a place leaves it out', async () => {
    const own = await school('A1');
    routing.answer = ({ url }, response) =>
      json(
        response,
        tablesFor(url!, (row) => row.map((value, n) => (n < 2 ? value : null))),
      );
    expect((await own.refresh()).body).toEqual(refreshed(1, 0, 0));
    expect(Object.keys((await own.kept())[0]!.reached)).toEqual(['A1']);
  });

  it('that fails for one postcode does not keep the others', async () => {
    const own = await school('A1', 'A2', 'A3');
    routing.answer = ({ url }, response) =>
      url!.includes('/driving/145.00000,-37.10000;') ? json(response, { code: 'NoSegment' }, 400) : json(response, tablesFor(url!));
    expect((await own.refresh()).body).toEqual(refreshed(2, 0, 1));
  });

  it('keeps no connection of the database and no turn while it takes its time, however many wait', async () => {
    const [database, { turns }] = [api.app.get(Database), api.app.get(Fairness)];
    const schools = await Promise.all(Array.from({ length: 8 }, () => school('A1')));
    routing.answer = () => undefined;
    const refreshes = Promise.all(schools.map(({ refresh }) => refresh()));
    const busy = async () => {
      const { total, idle } = database.poolState;
      const [row] = await make.query<{ open: number }>(`SELECT count(*)::int AS open FROM pg_stat_activity
        WHERE datname = current_database() AND state LIKE 'idle in transaction%'`);
      return [total - idle, turns.held, row!.open];
    };
    while (routing.asked.length < 2) await sleep(10);
    await expect.poll(busy).toEqual([0, 0, 0]);
    const { status } = await api.get('/v1/coverage/summary', schools[0]!.reading);
    expect(status).toBe(200);
    // Those who waited too long for their turn at the routing service failed, too.
    for (const { status, body } of await refreshes) expect([status, body]).toEqual([200, refreshed(0, 0, 1)]);
  });
});

it('a routing service where nothing listens is a failure, too', async () => {
  const gone = await RoutingServer.start();
  await gone.stop();
  const deaf = await TestApi.start({ ROUTING_URL: gone.url }, api.database);
  try {
    const { id } = await make.organization();
    await make.tutor(id, { profile: { teachingMode: 'in_person', homePostcode: 'A1' } });
    const answer = await supertest(deaf.server)
      .post('/v1/coverage/isochrones/refresh')
      .set('Authorization', `Token token=${await deaf.key(id, { scopes: ['write'] })}`);
    expect([answer.status, answer.body]).toEqual([200, refreshed(0, 0, 1)]);
    expect(deaf.logged.join('\n')).toContain('ECONNREFUSED');
  } finally {
    await deaf.stop();
  }
});
