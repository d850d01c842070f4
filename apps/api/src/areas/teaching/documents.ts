import { fileTypeFromStream } from 'file-type';
import type { TemporaryFile } from '@app/images';
import { ApiError } from '../../http/kit.js';

/** The kinds of documents that are kept, by the extension that file-type reports: what each is called, and served as. */
const KINDS: Record<string, [extension: string, contentType: string]> = {
  pdf: ['pdf', 'application/pdf'],
  jpg: ['jpg', 'image/jpeg'],
  png: ['png', 'image/png'],
  webp: ['webp', 'image/webp'],
  gif: ['gif', 'image/gif'],
  docx: ['docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  xlsx: ['xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  pptx: ['pptx', 'application/vnd.openxmlformats-officedocument.presentationml.presentation'],
  odt: ['odt', 'application/vnd.oasis.opendocument.text'],
  ods: ['ods', 'application/vnd.oasis.opendocument.spreadsheet'],
  odp: ['odp', 'application/vnd.oasis.opendocument.presentation'],
  mp3: ['mp3', 'audio/mpeg'],
  m4a: ['m4a', 'audio/mp4'],
  ogg: ['ogg', 'audio/ogg'],
  oga: ['ogg', 'audio/ogg'],
  opus: ['ogg', 'audio/ogg'],
  wav: ['wav', 'audio/wav'],
};

/** What to do about kinds that people are likely to send. */
const REMEDIES: Record<string, string> = {
  heic: 'Photos in the format HEIC are not kept, because many programs cannot show them: save it as a JPEG.',
  heif: 'Photos in the format HEIF are not kept, because many programs cannot show them: save it as a JPEG.',
  docm: 'Documents with macros are not kept: save it as .docx.',
  xlsm: 'Documents with macros are not kept: save it as .xlsx.',
  pptm: 'Documents with macros are not kept: save it as .pptx.',
  cfb: 'Documents of old office programs are not kept: save it as .docx, .xlsx or .pptx, or as a PDF.',
};

export const ACCEPTED =
  'a PDF, an image (JPEG, PNG, WebP, GIF), an office document (.docx, .xlsx, .pptx, .odt, .ods, .odp) or audio (MP3, M4A, Ogg, WAV)';

/** The longest name (code points). */
const LONGEST_NAME = 200;

/** What a document is, by its content alone. @param given the client's name for it @throws ApiError 415 */
export async function documentOf(file: TemporaryFile, given: string): Promise<{ name: string; contentType: string }> {
  const bytes = file.stream();
  const found = await fileTypeFromStream(bytes).finally(() => bytes.destroy());
  const kind = found && KINDS[found.ext];
  if (!kind) {
    const remedy = (found && REMEDIES[found.ext]) ?? `Send ${ACCEPTED}.`;
    throw new ApiError('unsupported_media_type', remedy);
  }
  const [extension, contentType] = kind;
  return { name: nameOf(given, extension), contentType };
}

/** The client's name without its path, with the real extension, so that nothing opens it as something else. */
function nameOf(given: string, extension: string): string {
  const path = given.replaceAll('\\', '/');
  // Neither control characters nor those that turn the direction of what follows, such as its extension.
  const name = path.slice(path.lastIndexOf('/') + 1).replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu, '');
  const dot = name.lastIndexOf('.');
  const stem = Array.from(dot > 0 ? name.slice(0, dot) : name)
    .slice(0, LONGEST_NAME - extension.length - 1)
    .join('');
  return `${stem.trim().replace(/^\.+/, '') || 'document'}.${extension}`;
}
