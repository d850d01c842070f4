import { SCOPES } from '@app/access';
import { TestApi } from '../../support/http/api.js';
import { cataloguedAs } from '../../support/http/catalogue.js';
import { DocumentSchemas } from '../../support/http/document-schemas.js';
import { documentOf, keyedRoutes, nameOf, operationAt, send } from '../../support/http/routes.js';

const api = await TestApi.shared();
const document = await documentOf(api);

describe('/openapi.json', () => {
  it('is an OpenAPI 3.1 document for version 1.x, with the key in the Authorization header', () => {
    expect(document.openapi).toBe('3.1.0');
    expect(document.info.version).toMatch(/^1\.\d+\.\d+$/);
    expect(document).toMatchObject({
      components: { securitySchemes: { api_key: { type: 'apiKey', in: 'header', name: 'Authorization' } } },
      security: [{ api_key: [] }],
    });
  });

  it('keeps the ids used by generated clients', () => {
    for (const route of keyedRoutes(api)) {
      expect([nameOf(route), operationAt(document, route).operationId]).toEqual([nameOf(route), cataloguedAs(route).id]);
    }
  });

  it('documents the scopes of each operation in its description and as an extension', () => {
    for (const route of keyedRoutes(api)) {
      const operation = operationAt(document, route);
      const scopes = route.access?.public === false ? route.access.scopes : [];
      expect([nameOf(route), operation['x-required-scopes']]).toEqual([nameOf(route), scopes]);
      expect(scopes.length).toBeGreaterThan(0);
      for (const scope of scopes) {
        expect(Object.keys(SCOPES)).toContain(scope);
        expect(operation.description).toContain(`\`${scope}\``);
      }
    }
  });

  it('describes each operation and parameter', () => {
    for (const route of keyedRoutes(api)) {
      const operation = operationAt(document, route);
      expect([nameOf(route), operation.summary]).toEqual([nameOf(route), expect.stringMatching(/^[A-Z].{10,}[^.]$/)]);
      for (const parameter of operation.parameters as ((typeof operation.parameters)[number] & Record<string, unknown>)[]) {
        if (parameter.in === 'query') {
          const described = [nameOf(route), parameter.name, parameter.description];
          expect(described).toEqual([nameOf(route), parameter.name, expect.stringMatching(/\.$/)]);
        }
        // OpenAPI examples on a parameter would be a map.
        expect([nameOf(route), parameter.name, Array.isArray(parameter.examples)]).toEqual([nameOf(route), parameter.name, false]);
      }
      const inPath = [...route.path.matchAll(/:([^/]+)/g)].map((match) => match[1]);
      const named = operation.parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
      expect([nameOf(route), named]).toEqual([nameOf(route), inPath]);
    }
  });

  it('documents every refusal of the pipeline, and 404 for paths with an id', () => {
    for (const route of keyedRoutes(api)) {
      const statuses = Object.keys(operationAt(document, route).responses);
      const expected = ['401', '403', '422', '429', '500', '503', ...(route.path.includes(':') ? ['404'] : [])];
      expect([nameOf(route), expected.filter((status) => !statuses.includes(status))]).toEqual([nameOf(route), []]);
    }
  });

  it('has an example for each answer that matches its schema', () => {
    const schemas = new DocumentSchemas(document);
    for (const route of keyedRoutes(api)) {
      const operation = operationAt(document, route);
      for (const [status, { content }] of Object.entries(operation.responses)) {
        if (!status.startsWith('2') || status === '204') continue;
        const { schema, example } = content['application/json'];
        const fits = schemas.ofAnswer(route, status);
        expect([nameOf(route), example]).not.toEqual([nameOf(route), undefined]);
        expect([nameOf(route), fits(example), fits.errors]).toEqual([nameOf(route), true, null]);
        expect([nameOf(route), fits({ ...(example as object), unheard_of: 1 })]).toEqual([nameOf(route), false]);
        expect(JSON.stringify(schema)).toContain('#/components/schemas/');
      }
    }
  });

  it('groups operations under described tags', () => {
    const tags = document.tags!.map(({ name }) => name);
    const used = keyedRoutes(api).map((route) => operationAt(document, route).tags[0]!);
    expect(tags.toSorted()).toEqual([...new Set(used)].sort());
    for (const tag of document.tags!) {
      expect(tag).toEqual({
        name: tag.name,
        'x-displayName': expect.stringMatching(/^[A-Z][a-z ]+$/) as string,
        description: expect.stringMatching(/^[A-Z].{10,}\.$/) as string,
      });
    }
  });

  it('has no dangling or unused references', async () => {
    const { text } = await send(api, 'GET', '/openapi.json');
    const references = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1]!);
    const known = (['schemas', 'responses', 'parameters', 'headers'] as const).flatMap((kind) =>
      Object.keys(document.components[kind]).map((name) => `#/components/${kind}/${name}`),
    );
    expect(references.length).toBeGreaterThan(50);
    const mapped = [...JSON.stringify(document).matchAll(/"mapping":\{([^}]*)\}/g)].flatMap(([, mapping]) =>
      [...mapping!.matchAll(/:"([^"]+)"/g)].map((match) => match[1]!),
    );
    expect(mapped.length).toBe(8);
    expect([...references, ...mapped].filter((reference) => !known.includes(reference))).toEqual([]);
    expect(known.filter((name) => !references.includes(name))).toEqual([]);
  });

  it('is also served as YAML', async () => {
    const { status, text } = await send(api, 'GET', '/openapi.yaml');
    expect(status).toBe(200);
    for (const path of Object.keys(document.paths)) expect(text).toContain(`${path}:`);
  });
});
