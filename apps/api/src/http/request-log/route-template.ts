/** Express' path as the OpenAPI document writes it: `/v1/tutors/{tutor_id}/reviews`. */
export function templateOf(path: string): string {
  return path.replaceAll(/:([^/]+)/g, '{$1}');
}
