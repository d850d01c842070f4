import { instant, integer, like, nullable, number, text, uuid } from '../../http/views/columns.js';
import { View } from '../../http/views/view.js';

export const loggedRequestView = new View('LoggedRequest', {
  id: uuid('r.id'),
  api_key_id: uuid('r.api_key_id'),
  method: text('r.method', 'GET'),
  route: nullable(text('r.route', '/v1/students/{student_id}')),
  status: like(integer('r.status', { minimum: 100, maximum: 599 }), 200),
  duration_ms: like(number('r.duration_ms'), 4.2),
  request_id: text('r.request_id', '7b0f6f0e-2f6c-4c57-9d0c-4f7f0c1f2a55'),
  created_at: instant('r.created_at'),
});
