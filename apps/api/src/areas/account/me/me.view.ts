import { nullable, text, texts, uuid, View } from '../../../http/kit.js';

export const pingView = new View('Ping', {
  status: text(`'ok'`, 'ok'),
  org_id: uuid('o.id'),
  org_name: nullable(text('o.name', 'Demo Tutoring')),
});

/** Requires the caller's scopes as `granted`. */
export const meView = new View('Me', {
  org_id: uuid('o.id'),
  org_name: nullable(text('o.name', 'Demo Tutoring')),
  org_slug: nullable(text('o.slug', 'demo')),
  scopes: texts('granted.scopes', { type: 'string', examples: ['read'] }),
});
