import { TestApi } from '../../support/http/api.js';
import { DocumentSchemas } from '../../support/http/document-schemas.js';
import {
  type ApiDocument,
  call,
  documentOf,
  keyedRoutes,
  nameOf,
  operationAt,
  type Schema,
} from '../../support/http/routes.js';
import { createFixtures } from '../../support/data/fixtures.js';

let api: TestApi;
let document: ApiDocument;

beforeAll(async () => {
  api = await TestApi.start();
  document = await documentOf(api);
});

afterAll(() => api.stop());

describe('the OpenAPI document', () => {
  it('describes each refusal once, with an example for each code that fits its schema and status', () => {
    const schemas = new DocumentSchemas(document);
    const codes = new Set<string>();
    for (const route of keyedRoutes(api)) {
      for (const [status, response] of Object.entries(operationAt(document, route).responses)) {
        if (Number(status) < 300) continue;
        expect([nameOf(route), status, Object.keys(response)]).toEqual([nameOf(route), status, ['$ref']]);
        const name = response.$ref!.split('/').at(-1)!;
        if (status === '304') continue;
        const { examples } = document.components.responses[name]!.content['application/json'];
        const fits = schemas.ofAnswer(route, status);
        expect([name, Object.keys(examples ?? {}).length]).not.toEqual([name, 0]);
        for (const [code, { value }] of Object.entries(examples!)) {
          expect([name, fits(value), fits.errors]).toEqual([name, true, null]);
          const { error } = value as { error?: { code: string; status: number } };
          if (error) expect([error.code, error.status]).toEqual([code, Number(status)]);
          codes.add(code);
        }
      }
    }
    const { code } = (document.components.schemas.ErrorResponse!.properties!.error as Schema).properties!;
    const elsewhere = [
      'invalid_state',
      'session_overlap',
      'still_referenced',
      'method_not_allowed',
      'headers_too_large',
    ];
    expect([...codes, ...elsewhere].sort()).toEqual(
      [...(code!.enum as string[]), 'expired_api_key', 'validation_failed'].sort(),
    );
  });

  it('describes the headers that each answer has', async () => {
    const fixtures = await createFixtures(api);
    for (const route of keyedRoutes(api)) {
      const { responses } = operationAt(document, route);
      for (const [query, key] of [
        ['', fixtures.a.key],
        ['?unheard_of=1', fixtures.a.key],
        ['', 'garbage'],
      ] as const) {
        const { status, headers } = await call(api, route, fixtures.a, { key, query });
        const response = responses[status]!;
        const described = (response.$ref ? document.components.responses[response.$ref.split('/').at(-1)!]! : response)
          .headers;
        const names = Object.keys(described).map((name) => name.toLowerCase());
        const told = Object.keys(document.components.headers).map((name) => name.toLowerCase());
        expect([nameOf(route), status, told.filter((name) => headers[name] && !names.includes(name))]).toEqual([
          nameOf(route),
          status,
          [],
        ]);
        const always = names.filter((name) => !['retry-after', 'idempotency-replayed'].includes(name));
        expect([nameOf(route), status, always.filter((name) => !headers[name])]).toEqual([nameOf(route), status, []]);
      }
    }
  });

  it('documents the versions of a post: ETag, If-Match, If-None-Match, 304, 400 and 412', () => {
    const about = (method: string, path: string) => {
      const { parameters, responses } = document.paths[path]![method]!;
      const named = parameters.filter((parameter) => parameter.in === 'header').map(({ name }) => name);
      const tagged = Object.entries(responses).filter(([status, { headers }]) => status < '300' && headers.ETag);
      return [named, ['304', '400', '412'].filter((status) => responses[status]), tagged.length];
    };
    expect(about('get', '/v1/blog-posts/{post_id}')).toEqual([['If-None-Match'], ['304'], 1]);
    expect(about('patch', '/v1/blog-posts/{post_id}')).toEqual([['If-Match'], ['400', '412'], 1]);
    expect(about('delete', '/v1/blog-posts/{post_id}')).toEqual([['If-Match'], ['400', '412'], 0]);
    expect(about('post', '/v1/blog-posts')).toEqual([['Idempotency-Key'], ['400'], 1]);
  });

  it('uses discriminators for invites and for rows of a bulk invite', () => {
    const { CreateInvite, BulkInvite } = document.components.schemas as Record<
      string,
      Schema & { discriminator?: object }
    >;
    const rows = (BulkInvite!.properties!.users!.items as Schema & { discriminator?: object }).discriminator;
    expect([CreateInvite!.discriminator, rows]).toMatchObject([
      { propertyName: 'scope', mapping: { parent: '#/components/schemas/CreateParentInvite' } },
      { propertyName: 'type', mapping: { student: '#/components/schemas/StudentRow' } },
    ]);
    const needs = ['Organization', 'Classroom', 'Group', 'TutorStudent', 'Parent'].map((kind) => {
      const { required, properties } = document.components.schemas[`Create${kind}Invite`]!;
      return [(required as string[]).join(), Object.keys(properties!).join()];
    });
    expect(needs).toEqual([
      ['scope', 'scope,role,email'],
      ['scope,classroom_id', 'scope,email,classroom_id'],
      ['scope,group_id', 'scope,email,group_id'],
      ['scope,tutor_id', 'scope,email,tutor_id,subject_id'],
      ['scope,student_id', 'scope,email,student_id'],
    ]);
  });

  it('has realistic examples', () => {
    type Json = Record<string, unknown>;
    const examples = keyedRoutes(api).flatMap((route) => {
      const [status, { content }] = Object.entries(operationAt(document, route).responses)[0]!;
      return status === '204' ? [] : [{ route, example: content['application/json'].example }];
    });
    const records = examples.flatMap(({ route, example }) => {
      const { data, meta } = example as { data?: Json[]; meta?: Json };
      if (meta)
        expect([nameOf(route), meta]).toEqual([
          nameOf(route),
          expect.objectContaining({ limit: 20, offset: 0, count: data!.length }),
        ]);
      return data ?? ((Array.isArray(example) ? example : [example]) as Json[]);
    });
    const having = (...names: string[]) => records.filter((record) => names.every((name) => name in record));
    for (const post of having('target', 'published_at')) {
      expect([post.target, post.status, post.scheduled_at]).toEqual(['org', 'published', null]);
      expect([typeof post.organization_id, typeof post.published_at]).toEqual(['string', 'string']);
    }
    for (const adjustment of having('voided')) expect(adjustment.voided).toBe(false);
    for (const work of having('scope', 'group_id')) {
      const targets = ['classroom', 'group', 'student'].filter((scope) => work[`${scope}_id`] !== null);
      expect(targets).toEqual([work.scope]);
    }
    for (const lesson of having('starts_at', 'ends_at')) {
      const minutes = (Date.parse(String(lesson.ends_at)) - Date.parse(String(lesson.starts_at))) / 60_000;
      expect([lesson.status, lesson.duration_minutes, lesson.completed_at]).toEqual([
        'completed',
        minutes,
        lesson.ends_at,
      ]);
    }
    for (const sums of having('total_invoiced_cents')) {
      const open = Number(sums.total_invoiced_cents) - Number(sums.total_paid_cents);
      expect([sums.outstanding_cents, sums.open_invoices_count]).toEqual([open, 1]);
    }
    for (const { pending_approvals: waiting } of having('pending_approvals') as {
      pending_approvals: Record<string, number>;
    }[]) {
      expect(waiting.total).toBe(waiting.mileage! + waiting.expenses!);
    }
    for (const { results, summary } of having('results') as { results: Json[]; summary: Record<string, number> }[]) {
      expect([summary.total, summary.ok! + summary.exists! + summary.errors!]).toEqual([
        results.length,
        results.length,
      ]);
    }
    // "text" stands in for a schema without an example.
    expect(JSON.stringify(examples).replaceAll('"homework_type":"text"', '')).not.toContain('"text"');
  });
});
