import { TestApi } from '../../support/http/api.js';
import { cataloguedAs, operations, statusOf } from '../../support/http/catalogue.js';
import { answerOf, documentOf, keyedRoutes, nameOf, operationAt, queryOf, type Route, type Schema } from '../../support/http/routes.js';
import { shapeNamed, shapes } from '../../support/http/shapes.js';

const api = await TestApi.shared();
const document = await documentOf(api);

/** The catalogue's word for a type; nested shapes go by the catalogue's name for such fields. */
function wordFor(schema: Schema): string {
  if (schema.$ref) return nameIn(schema);
  const types = Array.isArray(schema.type) ? schema.type : [schema.type];
  const nullable = types.includes('null') ? ' or null' : '';
  const [type] = types.filter((name) => name !== 'null');
  if (type === 'array') return `${wordFor(schema.items as Schema)}[]${nullable}`;
  if (type === undefined) return 'any';
  return schema.properties ? nestedName(schema) : `${type}${nullable}`;
}

function nestedName(schema: Schema): string {
  const fields = fieldsOf(schema);
  const text = JSON.stringify(sorted(fields));
  const found = [...shapes.keys()].find((name) => JSON.stringify(sorted(shapeNamed(name, fields))) === text);
  return found ?? `object of ${text}`;
}

/** Names that would clash in generated clients. */
const RENAMED: Record<string, string> = { AssessmentResult: 'Result' };

function fieldsOf(schema: Schema): Record<string, string> {
  return Object.fromEntries(Object.entries(schema.properties!).map(([name, field]) => [name, wordFor(field)]));
}

const sorted = (fields: object): [string, unknown][] => Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1));

/** Where reads never show null and writes may, the answer of a write has a schema with a name of its own. */
const WRITTEN = /Written$/;
const named = (schema: string): string => RENAMED[schema.replace(WRITTEN, '')] ?? schema.replace(WRITTEN, '');
const nameIn = (part: unknown): string => named((part as { $ref: string }).$ref.replace('#/components/schemas/', ''));
const schemasNamed = (name: string): [string, Schema][] => Object.entries(document.components.schemas).filter(([schema]) => named(schema) === name);

/** `Page<X>`, `X[]`, `{data: X[]}` or `X`, as the catalogue writes it. */
function answerInWords(route: Route): string {
  const { responses } = operationAt(document, route);
  if (responses[204] ?? responses[302]) return '';
  const { schema } = (responses[200] ?? responses[201])!.content['application/json'];
  const { data, ...rest } = (responses[200] && answerOf(document, route).properties) ?? {};
  const others = Object.keys(rest).join();
  if (data && others === 'meta') return `Page<${nameIn(data.items)}>`;
  if (data && others === '') return `{data: ${nameIn(data.items)}[]}`;
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

  it('return the shapes in the catalogue, with the status of their kind', () => {
    for (const route of keyedRoutes(api)) {
      expect([nameOf(route), answerInWords(route)]).toEqual([nameOf(route), cataloguedAs(route).answer]);
      expect([nameOf(route), ...Object.keys(operationAt(document, route).responses)]).toContain(`${statusOf(route)}`);
    }
  });

  it('have the fields, types and nullability in the catalogue, and what reads never show as null is not nullable', () => {
    const answers = keyedRoutes(api).map((route) => cataloguedAs(route).answer.replace(/^(Page<|\{data: )|>$|\[\]\}?$/g, ''));
    const served = new Set(answers.filter((name) => name !== ''));
    expect(served.size).toBeGreaterThan(15);
    for (const name of served) {
      const served = schemasNamed(name);
      for (const [component, schema] of served) {
        const fields = fieldsOf(schema);
        const known = shapeNamed(name, fields);
        const whole = served.length > 1 && WRITTEN.test(component);
        const shown = Object.entries(fields).map(([field, word]) => [field, !whole && known[field] === `${word} or null` ? known[field] : word]);
        expect([component, sorted(Object.fromEntries(shown) as object)]).toEqual([component, sorted(known)]);
      }
    }
  });

  it('are all in the catalogue, which is whole', () => {
    // A route without a line throws.
    expect(keyedRoutes(api).map(cataloguedAs).length).toBeGreaterThan(37);
    expect(new Set([...operations.values()].map(({ id }) => id)).size).toBe(operations.size);
    const named = [...operations.values()].map(({ answer }) => answer.replace(/^(Page<|\{data: )|>$|\[\]\}?$/g, ''));
    const parts = [...shapes.values()].flatMap((fields) => Object.values(fields)).map((type) => type.replace('[]', ''));
    const unknown = [...named, ...parts].filter((name) => /^[A-Z]/.test(name) && !shapes.has(name));
    expect(unknown).toEqual([]);
  });
});
