import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { Env } from '@app/config';
import { RouteTable } from '../routing/route-table.js';
import type { Schema } from '../views/columns.js';
import { errorResponses, errorSchemas } from './errors.js';
import { exampleOf } from './examples.js';
import { operationOf } from './operation.decorator.js';

/** The interface's version, not the service's: additions raise its minor number, nothing is removed under /v1. */
const INTERFACE_VERSION = '1.0.0';

const DESCRIPTION = `The public API of a tutoring organization. Every request carries an API key and sees only the data of
that key's organization; what belongs to another organization is answered like what does not exist.

Send the key as \`Authorization: Token token=<API_KEY>\`. Lists page by \`offset\`, or by \`cursor\` for a stable walk.
Unknown parameters are refused. Every answer carries \`X-Request-Id\`.`;

type Operations = Record<string, Record<string, Record<string, unknown>>>;

/** The OpenAPI 3.1 document of the running application: what its controllers, query classes and views declare. */
export function buildDocument(app: INestApplication): OpenAPIObject {
  const config = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Tutoring API')
    .setDescription(DESCRIPTION)
    .setVersion(INTERFACE_VERSION)
    .addServer(app.get(Env).get('PUBLIC_URL') ?? '/')
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .addApiKey(
      { type: 'apiKey', in: 'header', name: 'Authorization', description: 'The API key: `Token token=<API_KEY>`.' },
      'api_key',
    )
    .addSecurityRequirements('api_key')
    .build();
  const document = SwaggerModule.createDocument(app, config);
  const schemas: Record<string, Schema> = { ...errorSchemas };
  const paths = document.paths as Operations;
  for (const route of app.get(RouteTable).routes()) {
    const documented = operationOf(route.handler);
    const path = route.path.replaceAll(/:([^/]+)/g, '{$1}');
    const operation = paths[path]?.[route.method.toLowerCase()];
    if (!documented || !operation) continue;
    const { view, schema } = documented.answer;
    schemas[view.name] = view.schema;
    const scopes = route.access?.public === false ? route.access.scopes : [];
    operation.description = [documented.description, `Scope: \`${scopes.join('`, `')}\`.`].filter(Boolean).join('\n\n');
    operation['x-required-scopes'] = scopes;
    operation.tags = [path.split('/')[2]];
    operation.parameters = (operation.parameters as Parameter[]).map(describeParameter);
    operation.responses = {
      200: {
        description: 'OK',
        headers: { 'X-Request-Id': { schema: { type: 'string' } } },
        content: { 'application/json': { schema, example: exampleOf(schema, schemas) } },
      },
      ...errorsOf(path),
    };
  }
  return { ...document, components: { ...document.components, schemas: schemas } };
}

interface Parameter {
  in: string;
  schema: Schema;
  examples?: unknown;
}

/**
 * Ids in paths are strings: one that is no UUID is a record that does not exist, not a fault of form. Examples are the
 * schema's: those of a parameter would have to be named one by one.
 */
function describeParameter({ examples, ...parameter }: Parameter): Parameter {
  if (parameter.in === 'path') {
    return { ...parameter, schema: { type: 'string', examples: ['0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30'] } };
  }
  return examples ? { ...parameter, schema: { ...parameter.schema, examples } } : parameter;
}

function errorsOf(path: string): object {
  const entries = Object.entries(errorResponses).filter(([status]) => status !== '404' || path.includes('{'));
  return Object.fromEntries(
    entries.map(([status, { description, schema }]) => [
      status,
      { description, content: { 'application/json': { schema } } },
    ]),
  );
}
