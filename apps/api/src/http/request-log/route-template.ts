const templates = new Map<string, string>();

/** Express' path as the OpenAPI document writes it: `/v1/tutors/{tutor_id}/reviews`. */
export function templateOf(path: string): string {
  let template = templates.get(path);
  if (template === undefined) templates.set(path, (template = path.replaceAll(/:([^/]+)/g, '{$1}')));
  return template;
}
