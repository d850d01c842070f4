import type { INestApplication } from '@nestjs/common';
import { type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import helmet from 'helmet';
import { buildDocument } from './document.js';

/** Runs in the reader's browser: they paste the bare key, the header wants the scheme in front of it. */
function sendKey(request: { headers: Record<string, string> }): object {
  const key = request.headers.Authorization;
  if (key && !/^token /i.test(key)) request.headers.Authorization = `Token token=${key}`;
  return request;
}

/** The one page there is may load what is its own, and styles itself. */
const PAGE_POLICY = helmet.contentSecurityPolicy({
  directives: { 'img-src': ["'self'", 'data:'], 'upgrade-insecure-requests': null },
});

/** `/docs`, interactive and without any outside address, and `/openapi.json`. */
export function serveDocs(app: INestApplication): void {
  app.use('/docs', PAGE_POLICY);
  let document: OpenAPIObject | undefined;
  // Built at the first look: start-up and tests do not pay for it.
  SwaggerModule.setup('docs', app, () => (document ??= buildDocument(app)), {
    jsonDocumentUrl: 'openapi.json',
    yamlDocumentUrl: 'openapi.yaml',
    customSiteTitle: 'Tutoring API',
    swaggerOptions: { persistAuthorization: true, tryItOutEnabled: true, requestInterceptor: sendKey },
  });
}
