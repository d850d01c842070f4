import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Response } from 'express';
import supertest from 'supertest';
import { ApiKeys } from '@app/accounts';
import { BodyBudget } from '@app/serving';
import { Overloaded } from '../../apps/api/src/http/errors/api-error.js';
import { ImageEncoder } from '../../apps/api/src/media/images/image-encoder.js';
import { image } from '../support/data/images.js';
import { fixture } from '../support/process/fixture.js';
import { MULTIPART, Uploads } from '../support/http/uploads.js';

/** Requests for which there is no room are refused before their key is looked up; no others are. */
const REQUESTS = 100;
const JSON_BODY = 'application/json';
const NOT_FOUND = '/v1/students/0190a000-0000-7000-8000-000000000000';

const uploads = await fixture(Uploads.open());
const { api, school, make } = uploads;
const png = await image('png');
const scopes = ['read', 'blog:write'] as const;
const key = await api.key(school, { scopes: [...scopes] });
const { id: otherSchool } = await make.organization();
const other = await api.key(otherSchool, { scopes: [...scopes] });
const budget = api.app.get(BodyBudget);

function send(method: 'get' | 'post' | 'patch' | 'delete', path: string, type?: string, body?: string, as = key) {
  const request = supertest(api.server)[method](path).set('Authorization', `Token token=${as}`);
  return type ? request.set('Content-Type', type).send(body) : request;
}

/** Takes an organization's whole share of bodies in flight. @returns a function that gives it back */
function fillBodies(): () => void {
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  while (budget.hasRoom(school, 1_000)) budget.take(response as Response, school, 1_000);
  return () => response.emit('close');
}

/** Makes the queue of images full for one organization. */
function fillImages(): () => void {
  const refusal = (owner: string) => (owner === school ? new Overloaded(5) : null);
  const spy = vi.spyOn(api.app.get(ImageEncoder), 'refusal').mockImplementation(refusal);
  return () => spy.mockRestore();
}

beforeAll(async () => {
  for (const each of [key, other]) expect((await send('get', '/v1/ping', undefined, undefined, each)).status).toBe(200);
});

describe.each([
  { room: 'images', fill: fillImages, retryAfter: '5', path: '/v1/blog-images', type: MULTIPART, body: 'x' },
  {
    room: 'bodies',
    fill: fillBodies,
    retryAfter: '1',
    path: '/v1/blog-posts',
    type: JSON_BODY,
    body: '{}'.padEnd(2_000),
  },
  { room: 'uploaded bodies', fill: fillBodies, retryAfter: '1', path: '/v1/blog-images', type: MULTIPART, body: 'x' },
])('when there is no room for $room', ({ fill, retryAfter, path, type, body }) => {
  let empty: () => void;

  beforeAll(() => {
    empty = fill();
  });

  afterAll(() => empty());

  it('refuses most requests without looking up their key', async () => {
    const lookUps = vi.spyOn(ApiKeys.prototype, 'find');
    const answers = await Promise.all(Array.from({ length: REQUESTS }, () => send('post', path, type, body)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
    expect(new Set(answers.map(({ headers }) => headers['retry-after'] as string))).toEqual(new Set([retryAfter]));
    expect(answers[0]!.body).toMatchObject({ error: { code: 'service_unavailable' } });
    expect(lookUps.mock.calls.length).toBeLessThan(REQUESTS);
    lookUps.mockRestore();
  });

  it('counts them against the limit of the key', async () => {
    const remaining = async () => Number((await send('get', '/v1/ping')).headers['x-ratelimit-remaining']);
    const before = await remaining();
    await Promise.all(Array.from({ length: 20 }, () => send('post', path, type, body)));
    expect(before - (await remaining())).toBe(21);
  });

  it('serves what needs no such room, and other organizations', async () => {
    expect((await send('get', '/v1/students')).status).toBe(200);
    expect((await send('delete', NOT_FOUND)).status).toBe(405);
    expect((await send('post', '/v1/no-such-thing', type, body)).status).toBe(404);
    expect((await send('post', '/v1/blog-posts', JSON_BODY, `{"title":"${'x'.repeat(4_000_000)}"}`)).status).toBe(413);
    const post = JSON.stringify({ title: 'News', slug: 'news', content: 'x'.repeat(2_000) });
    expect((await send('post', '/v1/blog-posts', JSON_BODY, post, other)).status).not.toBe(503);
    expect((await uploads.send(png, { key: other })).status).toBe(201);
  });

  it('gives a key that does not exist no other answer', async () => {
    expect((await send('post', path, type, body, key.replace(/.$/, 'x'))).status).toBe(401);
  });

  it('shows that a key has been revoked', async () => {
    const revoked = await api.key(school, { scopes: [...scopes] });
    expect((await send('get', '/v1/ping', undefined, undefined, revoked)).status).toBe(200);
    await make.query(
      `UPDATE api_keys SET revoked_at = now() WHERE id = (SELECT id FROM api_keys ORDER BY created_at DESC LIMIT 1)`,
    );
    await vi.waitFor(async () => {
      expect((await send('post', path, type, body, revoked)).status).toBe(401);
    });
  });
});
