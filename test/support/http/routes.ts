import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseDate } from '@app/database';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { List } from '../../../apps/api/src/http/lists/list.js';
import { operationOf } from '../../../apps/api/src/http/openapi/operation.decorator.js';
import { templateOf as templateOfPath } from '../../../apps/api/src/http/request-log/route-template.js';
import { loadEnv } from '@app/config';
import { readObject } from '../../../apps/api/src/http/validation/read-object.js';
import { queryClassOf } from '../../../apps/api/src/http/validation/declared.js';
import { queryFieldsOf } from '../../../apps/api/src/http/validation/fields.js';
import { type Route, RouteTable } from '../../../apps/api/src/http/routing/route-table.js';
import type { TestApi } from './api.js';
import { pathOf, type OrganizationFixture } from '../data/fixtures.js';

export type { Route };

/** Every route of the application. */
export const allRoutes = (api: TestApi): Route[] => api.app.get(RouteTable).routes();

/** The routes that need a key. */
export const keyedRoutes = (api: TestApi): Route[] => allRoutes(api).filter((route) => route.access?.public !== true);

/** The reads that need a key. */
export const keyedReads = (api: TestApi): Route[] =>
  // A redirect has nothing to read: test/api/teaching/private-files.spec.ts.
  keyedRoutes(api).filter(({ method, handler }) => method === 'GET' && operationOf(handler)?.answer !== null);

/** The path as written in the OpenAPI document. */
export const templateOf = (route: Route): string => templateOfPath(route.path);

/** The operation as written in the catalogue: `GET /v1/parents/{parent_id}`. */
export const nameOf = (route: Route): string => `${route.method} ${templateOf(route)}`;

export type Schema = Record<string, unknown> & {
  type?: string | string[];
  format?: string;
  enum?: unknown[];
  pattern?: string;
  examples?: unknown[];
  default?: unknown;
  minimum?: number;
  maximum?: number;
  properties?: Record<string, Schema>;
};

export type Parameter = { name: string; in: string; schema: Schema };

export interface DocumentedResponse {
  $ref?: string;
  description: string;
  headers: Record<string, { $ref: string }>;
  content: { 'application/json': { schema: Schema; example?: unknown; examples?: Record<string, { value: unknown }> } };
}

export interface DocumentedOperation {
  operationId: string;
  summary: string;
  description: string;
  parameters: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, DocumentedResponse>;
  'x-required-scopes': string[];
  tags: string[];
}

/** The OpenAPI document that clients get. */
export interface ApiDocument extends Omit<OpenAPIObject, 'paths' | 'components'> {
  paths: Record<string, Record<string, DocumentedOperation>>;
  components: {
    schemas: Record<string, Schema>;
    responses: Record<string, DocumentedResponse>;
    parameters: Record<string, Parameter>;
    headers: Record<string, { description: string; schema: Schema }>;
  };
}

/** The served document, with the shared parameters in each operation that refers to them. */
export async function documentOf(api: TestApi): Promise<ApiDocument> {
  const document = (await api.get('/openapi.json')).body as ApiDocument;
  for (const operation of Object.values(document.paths).flatMap((methods) => Object.values(methods))) {
    const parameters = operation.parameters as (Parameter & { $ref?: string })[];
    operation.parameters = parameters.map((parameter) =>
      parameter.$ref ? document.components.parameters[parameter.$ref.split('/').at(-1)!]! : parameter,
    );
  }
  return document;
}

/** The schema of the route's success (200), without its name. */
export function answerOf(document: ApiDocument, route: Route): Schema {
  const { schema } = operationAt(document, route).responses[200]!.content['application/json'];
  return typeof schema.$ref === 'string' ? document.components.schemas[schema.$ref.split('/').at(-1)!]! : schema;
}

/** The route's operation in the document. */
export function operationAt(document: ApiDocument, route: Route): DocumentedOperation {
  const operation = document.paths[templateOf(route)]?.[route.method.toLowerCase()];
  if (!operation) throw new Error(`${nameOf(route)} is not in the OpenAPI document: give it @Documented`);
  return operation;
}

/** The route's query parameters, by name. */
export function queryOf(document: ApiDocument, route: Route): Map<string, Schema> {
  const parameters = operationAt(document, route).parameters.filter((parameter) => parameter.in === 'query');
  return new Map(parameters.map(({ name, schema }) => [name, schema]));
}

const PAGING = ['limit', 'offset', 'cursor'];

/** The route's query parameters except paging. */
export function filtersOf(document: ApiDocument, route: Route): Map<string, Schema> {
  return new Map([...queryOf(document, route)].filter(([name]) => !PAGING.includes(name)));
}

export type Answer = { status: number; headers: Record<string, string>; text: string };

/** Sends a request exactly as given: any method, without normalising the path. */
export function send(api: TestApi, method: string, path: string, headers: Record<string, string> = {}): Promise<Answer> {
  const { port } = api.server.address() as AddressInfo;
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, method, path, headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => (text += part));
      response.on('end', () => {
        resolve({ status: response.statusCode!, headers: response.headers as Record<string, string>, text });
      });
    });
    sent.on('error', reject);
    sent.end();
  });
}

/** The parts by which a caller could tell responses apart: everything except the request id and the key's counters. */
export function telling({ status, headers, text }: Answer): object {
  return {
    status,
    headerNames: Object.keys(headers).sort(),
    type: headers['content-type'],
    cache: headers['cache-control'],
    length: headers['content-length'],
    text,
  };
}

/** A valid value of the query parameter, as it is sent; of a filter, one that leaves records of the school if possible. */
export function sampleOf(name: string, schema: Schema, school: OrganizationFixture): string {
  const { type, enum: values, examples, minimum = 'a' } = schema;
  const own = school.query[name] === undefined ? (examples as string[] | undefined) : [school.query[name]];
  const [sample] = (values as string[] | undefined) ?? (type === 'boolean' ? ['true'] : (own ?? [minimum]));
  return encodeURIComponent(sample!);
}

const SETTINGS = loadEnv({}, {});

/** Values for the parameters that the route requires, and for one of several, unless the query has them. */
export function missingIn(query: string, route: Route, school: OrganizationFixture): string[] {
  const shape = queryClassOf(route.handler) ?? Object;
  const given = new URLSearchParams(query);
  const { faults } = readObject(shape as new () => object, Object.fromEntries(given), SETTINGS);
  // A bound that is missing is that of the other one.
  const bound = [given.get('from'), given.get('to')].find((value) => value && parseDate(value));
  const required = faults.list.filter(({ type }) => type === 'missing').map(({ at }) => String(at[0]));
  return queryFieldsOf(shape)
    .map(({ name, schema }: { name: string | symbol; schema: Schema }) => ({ name: String(name), schema }))
    .filter(({ name }) => required.includes(name))
    .map(({ name, schema }) => {
      const isBound = bound && ['from', 'to'].includes(name);
      return `${name}=${isBound ? encodeURIComponent(bound) : sampleOf(name, schema, school)}`;
    });
}

/** The path of a valid request to the route, with the school's ids and the query that it requires. */
export const validPath = (route: Route, school: OrganizationFixture, query = ''): string =>
  [pathOf(route, school) + query, ...missingIn(query, route, school)].reduce((whole, one) =>
    whole.endsWith('?') ? `${whole}${one}` : `${whole}${whole.includes('?') ? '&' : '?'}${one}`,
  );

/** The same with one of the ids replaced, or all of them. */
export function pathWith(route: Route, school: OrganizationFixture, name: string | null, id: string): string {
  const names = name === null ? Object.keys(school.path) : [name];
  return validPath(route, { ...school, path: { ...school.path, ...Object.fromEntries(names.map((one) => [one, id])) } });
}

/** Calls the route with the school's ids and the school's key, another key, or no key (null). */
export function call(
  api: TestApi,
  route: Route,
  school: OrganizationFixture,
  { key = school.key, query = '' }: { key?: string | null; query?: string } = {},
): Promise<Answer> {
  const headers = key === null ? undefined : { Authorization: `Token token=${key}` };
  return send(api, route.method, validPath(route, school, query), headers);
}

/** The declared list that the route serves, if it does. */
export const listAt = (route: Route): List | undefined => operationOf(route.handler)?.list;

/** A declared list, with the route that serves it. */
export interface DeclaredList {
  route: Route;
  list: List;
}

/** Every declared list. */
export const declaredLists = (api: TestApi): DeclaredList[] =>
  keyedReads(api).flatMap((route) => {
    const list = listAt(route);
    return list ? [{ route, list }] : [];
  });

/** The lists with pages that are ordered by creation; others have their own order. */
export const newestFirstLists = (api: TestApi): List[] =>
  declaredLists(api)
    .map(({ list }) => list)
    .filter(({ order, bare }) => order === undefined && bare === undefined);
