import { TestApi } from '../../support/http/api.js';
import { DocumentSchemas } from '../../support/http/document-schemas.js';
import { call, documentOf, keyedRoutes, nameOf, operationAt, type Schema } from '../../support/http/routes.js';
import { createFixtures } from '../../support/data/fixtures.js';

const api = await TestApi.shared();
const document = await documentOf(api);

describe('the OpenAPI document', () => {
  it('describes each refusal once, with an example for each code that fits its schema and status', () => {
    const schemas = new DocumentSchemas(document);
    const codes = new Set<string>();
    for (const route of keyedRoutes(api)) {
      for (const [status, response] of Object.entries(operationAt(document, route).responses)) {
        // A redirect is no refusal.
        if (Number(status) < 300 || status === '302') continue;
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
      'is_manager',
      'no_sender',
      'no_payer',
      'no_address',
      'payer_changed',
      'maker_left',
      'tested_recently',
      'still_belongs',
      'held',
      'not_replayable',
      'session_overlap',
      'still_referenced',
      'has_money',
      'too_many',
      'storage_full',
      'method_not_allowed',
      'headers_too_large',
      'moved',
    ];
    expect([...codes, ...elsewhere].sort()).toEqual([...(code!.enum as string[]), 'expired_api_key', 'validation_failed'].sort());
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
        const described = (response.$ref ? document.components.responses[response.$ref.split('/').at(-1)!]! : response).headers;
        const names = Object.keys(described).map((name) => name.toLowerCase());
        const told = Object.keys(document.components.headers).map((name) => name.toLowerCase());
        expect([nameOf(route), status, told.filter((name) => headers[name] && !names.includes(name))]).toEqual([nameOf(route), status, []]);
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
    expect(about('patch', '/v1/blog-posts/{post_id}')).toEqual([['Idempotency-Key', 'If-Match'], ['400', '412'], 1]);
    expect(about('delete', '/v1/blog-posts/{post_id}')).toEqual([['Idempotency-Key', 'If-Match'], ['400', '412'], 0]);
    expect(about('post', '/v1/blog-posts')).toEqual([['Idempotency-Key'], ['400'], 1]);
  });
});
