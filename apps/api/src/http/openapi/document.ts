import type { INestApplication } from '@nestjs/common';
import { HTTP_CODE_METADATA } from '@nestjs/common/constants.js';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { SCOPES } from '@app/access';
import { platformBlogOf } from '../auth/access.decorators.js';
import { templateOf } from '../request-log/route-template.js';
import type { Answer } from '../lists/answer.js';
import { type Route, RouteTable } from '../routing/route-table.js';
import { documentedSchema } from '../validation/body-schema.js';
import { bodyClassOf, bodyKindOf, queryClassOf } from '../validation/declared.js';
import type { Schema } from '../views/schemas.js';
import { mayBeEmpty } from '../validation/read-object.js';
import { isWrite } from '../request/attempt.js';
import { AnswerSchemas } from './answers.js';
import type { ReferenceTag } from './area.decorator.js';
import { errorSchemas, type FailureName, failureResponses, FAILURES } from './errors.js';
import { curlOf } from './curl.js';
import { exampleOf } from './examples.js';
import { ANSWER_HEADERS, HEADERS, RATE_LIMIT_HEADERS, refer } from './headers.js';
import { parametersOf, shareParameters } from './parameters.js';
import { type Operation, operationOf } from './operation.decorator.js';
import { SIGNATURE_PARAMETERS, webhooksOf } from './webhooks.js';

/** The version of the API, not of the service. Additions raise the minor number. Nothing is removed under /v1. */
const INTERFACE_VERSION = '1.1.0';

const DESCRIPTION = `The public API of a tutoring organization. Every request needs an API key and sees only the data of that
key's organization. Other organizations' records return 404, like records that do not exist.

Send the key as \`Authorization: Token token=<API_KEY>\`. Read a whole list with \`cursor\`, or jump to a page with \`offset\`.
Unknown parameters are refused. Guides: [errors and retries](docs/errors), [idempotency](docs/idempotency),
[pagination](docs/pagination), [rate limits](docs/rate-limits), [signatures of build hooks](docs/build-hooks),
[events](docs/events), [webhooks](docs/webhooks), [versioning](docs/versioning). For a key to test with, run the demo of a service of your own. Every response has an \`X-Request-Id\`.`;

/** What each scope of a key grants. */
const SCOPE_TABLE = Object.entries(SCOPES).map(([scope, sentence]) => `\n| \`${scope}\` | ${sentence} |`);
const KEY = `Paste your API key, with or without \`Token token=\` in front.

| scope | opens |
|---|---|${SCOPE_TABLE.join('')}`;

type Operations = Record<string, Record<string, Record<string, unknown>>>;

/** The OpenAPI 3.1 document: what controllers, query classes and views declare. @param tags in the order of the reference */
export function buildDocument(app: INestApplication, tags: ReferenceTag[]): OpenAPIObject {
  const config = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Tutoring API')
    .setDescription(DESCRIPTION)
    .setVersion(INTERFACE_VERSION)
    .addServer('/')
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .addApiKey({ type: 'apiKey', in: 'header', name: 'Authorization', description: KEY }, 'api_key')
    .addSecurityRequirements('api_key')
    .build();
  const document = SwaggerModule.createDocument(app, config);
  const schemas: Record<string, Schema> = { ...errorSchemas };
  const paths = document.paths as Operations;
  const routes = app.get(RouteTable).routes();
  const answers = new AnswerSchemas(routes);
  for (const route of routes) {
    const documented = operationOf(route.handler);
    const path = templateOf(route.path);
    const operation = paths[path]?.[route.method.toLowerCase()];
    if (!documented) Reflect.deleteProperty(paths, path);
    if (!documented || !operation) continue;
    operation.operationId = documented.id;
    operation.summary = documented.summary;
    const scopes = route.access?.public === false ? route.access.scopes : [];
    const byBody = route.access?.public === false && route.access.ofBody !== undefined;
    const scope = `Scope: ${byBody ? 'depending on the body, ' : ''}\`${scopes.join('`, `')}\`.`;
    operation.description = [documented.description, scope].filter(Boolean).join('\n\n');
    operation['x-required-scopes'] = scopes;
    if (byBody) operation['x-scopes-by-body'] = true;
    operation.tags = [path.split('/')[2]];
    operation.parameters = parametersOf(path, queryClassOf(route.handler), {
      write: isWrite(route.method),
      read: documented.versioned === true && route.method === 'GET',
      changed: changes(route) && (documented.versioned ?? false),
    });
    delete operation.requestBody;
    const body = requestBodyOf(route, documented, schemas);
    if (body) operation.requestBody = body;
    operation['x-codeSamples'] = [
      {
        lang: 'shell',
        label: 'curl',
        source: curlOf({
          method: route.method,
          path,
          body: sampleOf(body, schemas),
          ifMatch: documented.versioned === 'required',
        }),
      },
    ];
    operation.responses = { ...success(route, documented, answers, schemas), ...errorsOf(path, route, documented) };
  }
  const webhooks = webhooksOf(schemas);
  const responses = { ...failureResponses(), NotModified: notModified };
  return Object.assign(document, {
    tags,
    webhooks,
    components: {
      ...document.components,
      schemas,
      responses,
      parameters: { ...shareParameters(paths), ...SIGNATURE_PARAMETERS },
      headers: HEADERS,
    },
  });
}

/** The status of a success: the declared one, or Nest's default for the method. */
function success(
  { method, handler }: Route,
  { answer, versioned, repeated }: Operation,
  answers: AnswerSchemas,
  schemas: Record<string, Schema>,
) {
  const declared = Reflect.getMetadata(HTTP_CODE_METADATA, handler) as number | undefined;
  const status = declared ?? (method === 'POST' ? 201 : 200);
  const headers = refer([
    ...ANSWER_HEADERS,
    ...RATE_LIMIT_HEADERS,
    ...(versioned && versioned !== 'compared' && answer ? ['ETag'] : []),
    ...(isWrite(method) ? ['Idempotency-Replayed'] : []),
    ...(status === 302 ? ['Location'] : []),
  ]);
  if (!answer) return { [status]: { description: 'Done. The response has no body.', headers } };
  const schema = answers.of(method, answer, schemas);
  const content = { 'application/json': { schema, example: exampleOfAnswer({ ...answer, schema }, schemas) } };
  return {
    ...(repeated && { 200: { description: repeated, headers, content } }),
    [status]: { description: status === 201 ? 'Created' : 'OK', headers, content },
  };
}

/** The example of a response. Some lists have more fields in `meta`. */
function exampleOfAnswer({ schema, meta }: Answer, schemas: Record<string, Schema>): unknown {
  const example = exampleOf(schema, schemas);
  return meta ? { ...(example as object), meta: { ...(example as { meta: object }).meta, ...meta } } : example;
}

function requestBodyOf({ handler }: Route, { example }: Operation, schemas: Record<string, Schema>) {
  if (bodyKindOf(handler) === 'upload') {
    const file = { type: 'string', contentMediaType: 'application/octet-stream' };
    const schema = { type: 'object', properties: { file }, required: ['file'] };
    return { required: true, content: { 'multipart/form-data': { schema } } };
  }
  const shape = bodyClassOf(handler);
  if (!shape) return null;
  const schema = documentedSchema(shape, schemas);
  return { required: !mayBeEmpty(shape), content: { 'application/json': { schema, ...(example && { example }) } } };
}

/** What a call in the reference sends. */
function sampleOf(body: ReturnType<typeof requestBodyOf>, schemas: Record<string, Schema>) {
  const json = body?.content['application/json'];
  if (!body || !json) return body ? 'upload' : 'none';
  return { example: json.example ?? exampleOf(json.schema, schemas) };
}

/** A 304 has the headers of the response it stands for, and no body. */
const notModified = {
  description: 'The record still has the version given in `If-None-Match`.',
  headers: refer([...ANSWER_HEADERS, ...RATE_LIMIT_HEADERS, 'ETag']),
};

/** A created record has no earlier version for If-Match. */
function changes({ method, path }: Route): boolean {
  return isWrite(method) && (method !== 'POST' || path.includes(':'));
}

function errorsOf(
  path: string,
  route: Route,
  { versioned = false, expires = false, conflicts = [] }: Operation,
): object {
  const { method, handler } = route;
  const write = isWrite(method);
  const conditional = versioned !== false && changes(route);
  const platform = platformBlogOf(handler) !== undefined;
  const applies: Partial<Record<FailureName, boolean>> = {
    BadRequest: write,
    Forbidden: !platform,
    ForbiddenPlatform: platform,
    NotFound: path.includes('{') || write,
    Conflict: write || conflicts.length > 0,
    CursorExpired: expires,
    PreconditionFailed: conditional,
    PayloadTooLarge: write,
    UnsupportedMediaType: write,
  };
  const names = (Object.keys(FAILURES) as FailureName[]).filter((name) => applies[name] ?? true);
  const responses = names.map((name) => [FAILURES[name].status, { $ref: `#/components/responses/${name}` }]);
  return {
    ...(versioned && method === 'GET' && { 304: { $ref: '#/components/responses/NotModified' } }),
    ...(Object.fromEntries(responses) as object),
  };
}
