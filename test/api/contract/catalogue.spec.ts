import { TestApi } from '../../support/http/api.js';
import { cataloguedAs, servedOperations, shapes } from '../../support/http/catalogue.js';
import { answerOf, documentOf, keyedRoutes, nameOf, operationAt, queryOf, type Route, type Schema } from '../../support/http/routes.js';
import { fixture } from '../../support/process/fixture.js';

const api = await fixture(TestApi.start());
const document = await documentOf(api);

/** The catalogue's word for a type; nested shapes go by the catalogue's name for such fields. */
function wordFor(schema: Schema): string {
  const types = Array.isArray(schema.type) ? schema.type : [schema.type];
  const nullable = types.includes('null') ? ' or null' : '';
  const [type] = types.filter((name) => name !== 'null');
  if (type === 'array') return `${wordFor(schema.items as Schema)}[]${nullable}`;
  if (type === undefined) return 'any';
  return type === 'object' ? nestedName(schema) : `${type}${nullable}`;
}

function nestedName(schema: Schema): string {
  const fields = JSON.stringify(fieldsOf(schema));
  const [found] = [...shapes].find(([, shape]) => JSON.stringify(shape) === fields) ?? [];
  return found ?? `object of ${fields}`;
}

/** Names that would clash in generated clients. */
const RENAMED: Record<string, string> = { AssessmentResult: 'Result' };

/** In document order, which is the catalogue's. */
function fieldsOf(schema: Schema): Record<string, string> {
  return Object.fromEntries(Object.entries(schema.properties!).map(([name, field]) => [name, wordFor(field)]));
}

const sorted = (fields: object): [string, unknown][] => Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1));

const named = (schema: string): string => RENAMED[schema] ?? schema;
const schemaNamed = (name: string): Schema => Object.entries(document.components.schemas).find(([schema]) => named(schema) === name)![1];

/** `Page<X>`, `X[]` or `X`, as the catalogue writes it. */
function answerInWords(route: Route): string {
  const { responses } = operationAt(document, route);
  if (responses[204]) return '';
  const { schema } = (responses[200] ?? responses[201])!.content['application/json'];
  const items = responses[200] && answerOf(document, route).properties?.data?.items;
  const nameIn = (part: unknown): string => named((part as { $ref: string }).$ref.replace('#/components/schemas/', ''));
  if (items) return `Page<${nameIn(items)}>`;
  return schema.type === 'array' ? `${nameIn(schema.items)}[]` : nameIn(schema);
}

describe('the served operations', () => {
  it('take the query parameters in the catalogue', () => {
    for (const route of keyedRoutes(api)) {
      const names = [...queryOf(document, route).keys()].filter((name) => name !== 'cursor');
      expect([nameOf(route), names.sort()]).toEqual([
        nameOf(route),
        cataloguedAs(route)
          .query.map((name) => name.replace('!', ''))
          .sort(),
      ]);
    }
  });

  it('return the shapes in the catalogue', () => {
    for (const route of keyedRoutes(api)) {
      expect([nameOf(route), answerInWords(route)]).toEqual([nameOf(route), cataloguedAs(route).answer]);
    }
  });

  it('have the fields, types and nullability in the catalogue', () => {
    const answers = keyedRoutes(api).map((route) => cataloguedAs(route).answer.replace(/^Page<|>$|\[\]$/g, ''));
    const served = new Set(answers.filter((name) => name !== ''));
    expect(served.size).toBeGreaterThan(15);
    for (const name of served) {
      const shape = shapes.get(name);
      if (!shape) throw new Error(`${name}: give it a line in SHAPES, test/support/http/catalogue.ts`);
      expect([name, sorted(fieldsOf(schemaNamed(name)))]).toEqual([name, sorted(shape)]);
    }
  });

  it('include every planned operation', () => {
    expect(keyedRoutes(api).map(nameOf)).toEqual(expect.arrayContaining(servedOperations));
  });
});
