import { isIdempotent } from '../../../apps/api/src/http/writes/idempotency-key.js';
import type { TestApi } from './api.js';
import { BODIES, MORE_BODIES } from './bodies.js';
import { image } from '../data/images.js';
import { keyedRoutes, type Route } from './routes.js';
import { MULTIPART, multipart, part } from './uploads.js';
import { pathOf, type Fixtures } from '../data/fixtures.js';

const JSON_TYPE = 'application/json';

/** A write request. */
export interface Write {
  name: string;
  method: string;
  path: string;
  type: string;
  body: Uint8Array<ArrayBuffer> | undefined;
  /** The route supports Idempotency-Key. */
  keyed: boolean;
  /** The write succeeded before, so the request gets a replay. */
  replay: boolean;
}

/** Every write in the route table, some with several bodies. Writes with a key appear a second time as replays. */
export async function allWrites(api: TestApi, { make, a: school }: Fixtures): Promise<Write[]> {
  const newcomer = await make.student(school.id);
  const child = await make.student(school.id);
  const parent = await make.parent(school.id, { children: [child.id] });
  const live = await make.post(school.id, { status: 'published', publishedAt: new Date() });
  const ids = {
    ...school.path,
    ...school.query,
    student_id: newcomer.id,
    tutor_id: (await make.tutor(school.id)).id,
  };
  const paths: Record<string, Record<string, string>> = {
    'POST /v1/students/:student_id/send-invite': { student_id: child.id },
    'POST /v1/parents/:parent_id/send-invite': { parent_id: parent.id },
    'DELETE /v1/blog-posts/:post_id': { post_id: live.id },
  };
  const bodiesOf = (name: string, route: Route): (object | undefined)[] => {
    if (name === 'PATCH /v1/blog-posts/:post_id') return [{ title: 'Changed' }, { status: 'published' }];
    const body = BODIES[name];
    if (!body) throw new Error(`Give ${route.method} ${route.path} a body in test/support/http/bodies.ts`);
    return [body, ...(MORE_BODIES[name] ?? [])].map((make) => make(ids));
  };
  const file = new Uint8Array(multipart(part(await image('jpeg'))));
  return keyedRoutes(api)
    .filter(({ method }) => method !== 'GET')
    .flatMap((route) => {
      const operation = `${route.method} ${route.path}`;
      const path = pathOf(route, { ...school, path: { ...school.path, ...paths[operation] } });
      const keyed = isIdempotent(route.handler);
      const uploads = operation === 'POST /v1/blog-images';
      const bodies = uploads
        ? [file]
        : bodiesOf(operation, route).map((body) => body && new TextEncoder().encode(JSON.stringify(body)));
      return bodies.flatMap((body, index) => {
        const write = { method: route.method, path, type: uploads ? MULTIPART : JSON_TYPE, body, keyed };
        const name = bodies.length > 1 ? `${operation} (body ${index + 1})` : operation;
        const once = { ...write, name, replay: false };
        return keyed ? [once, { ...write, name: `${name}, replayed`, replay: true }] : [once];
      });
    });
}
