import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { type ApiDocument, nameOf, operationAt, type Route, templateOf } from './routes.js';

/** Compiles the schemas of an OpenAPI document. */
export class DocumentSchemas {
  readonly ajv = new Ajv2020({ strict: false, allErrors: true });

  constructor(private readonly document: ApiDocument) {
    formats.default(this.ajv);
    this.ajv.addSchema(document, 'openapi.json');
  }

  /** The schema of the route's JSON response with this status. */
  ofAnswer(route: Route, status: number | string): ValidateFunction {
    const response = operationAt(this.document, route).responses[status];
    if (!response) throw new Error(`${nameOf(route)} does not document ${status}`);
    const path = ['paths', templateOf(route), route.method.toLowerCase(), 'responses', String(status)];
    const pointer = path.map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1')).join('/');
    return this.at(`${response.$ref ?? `#/${pointer}`}/content/application~1json/schema`);
  }

  ofComponent(name: string): ValidateFunction {
    return this.at(`#/components/schemas/${name}`);
  }

  private at(reference: string): ValidateFunction {
    return this.ajv.getSchema(`openapi.json${reference}`)!;
  }
}
