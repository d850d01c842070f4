import { Controller, Get, HttpCode, Req, Res, UseGuards } from '@nestjs/common';
import type { Request, Response } from 'express';
import { VALUES } from '@app/database';
import { FileLinks, FILES as KIND, Uploads } from '@app/teaching';
import {
  Audit, byValue, type Caller, CurrentCaller, Documented, instant, kinds, like, list, listController, nullable, one, oneOf, PathId, Post,
  RequireScopes, rows, type Shape, Source, text, Upload, UUID, uuid, View,
} from '../../../http/kit.js'; // prettier-ignore
import { ACCEPTED } from '../documents.js';
import { FilesGuard } from './files.guard.js';

const { scope, resource_type } = VALUES.files;

const FILES = list({
  id: 'list_files',
  path: 'v1/files',
  summary: 'Lists files and links, newest first',
  description:
    '`file_url` or `link_url` says where each is; that of an uploaded one is a path of this API. Private files are listed too, so a ' +
    'key with `read` is to be kept as safe as they are.',
  view: new View('Resource', {
    id: uuid('f.id'),
    owner_id: nullable(uuid('f.owner_id')),
    scope: like(nullable(oneOf('f.scope', scope)), 'org'),
    title: nullable(text('f.title', 'Quadratics, worked examples')),
    resource_type: like(nullable(oneOf('f.resource_type', resource_type)), 'file'),
    file_url: nullable(
      text(
        `CASE WHEN f.upload_id IS NULL THEN f.file_url ELSE '/v1/files/' || f.id || '/content' END`,
        'https://files.example.com/quadratics.pdf',
      ),
    ),
    link_url: like(nullable(text('f.link_url')), null),
    student_id: like(nullable(uuid('f.student_id')), null),
    classroom_id: like(nullable(uuid('f.classroom_id')), null),
    group_id: like(nullable(uuid('f.group_id')), null),
    folder_id: like(nullable(uuid('f.folder_id')), null),
    upload_id: like(nullable(uuid('f.upload_id')), null),
    created_at: nullable(instant('f.created_at')),
  }),
  source: new Source('files', 'f'),
  parameters: [
    byValue('resource_type', resource_type, 'Only files of this type.'),
    byValue('scope', scope, 'Only files shared this way.'),
  ],
});

const uploadShape: Shape = {
  name: 'Upload',
  schema: {
    type: 'object',
    properties: {
      id: { ...UUID, description: 'The `upload_id` of the file to be.' },
      name: { type: 'string', description: 'With the extension of its real type.', examples: ['Surds.pdf'] },
      content_type: { type: 'string', examples: ['application/pdf'] },
      size_bytes: { type: 'integer', minimum: 1, examples: [183204] },
    },
    required: ['id', 'name', 'content_type', 'size_bytes'],
    additionalProperties: false,
  },
};

@Controller('v1/files/uploads')
class FileUploadsController {
  constructor(
    private readonly uploads: Uploads,
    private readonly audit: Audit,
  ) {}

  @Post()
  @RequireScopes('coursework:write')
  @Upload()
  @UseGuards(FilesGuard)
  @Documented({
    id: 'upload_file',
    summary: 'Uploads a document for a file',
    description:
      `One part \`file\` of at most 25 MB (26,214,400 bytes): ${ACCEPTED}, by its content, whatever its name says. It is kept as it is, ` +
      'and privately. Create a file with its `id` as `upload_id` within a day, or it is deleted; it is also deleted, within a day, after ' +
      'its file is. 409 `storage_full` beyond what an organization may store.',
    answer: one(uploadShape),
    conflicts: ['storage_full'],
  })
  async create(@CurrentCaller() caller: Caller, @Req() { document }: Request) {
    const { upload, stored } = document!;
    stored.take();
    await this.uploads.add(caller.organizationId, upload);
    this.audit.note({ upload_id: upload.id, size_bytes: upload.size });
    return { id: upload.id, name: upload.name, content_type: upload.contentType, size_bytes: upload.size };
  }
}

@Controller('v1/files/:file_id/content')
class FileContentController {
  constructor(private readonly links: FileLinks) {}

  @Get()
  @HttpCode(302)
  @RequireScopes('read')
  @Documented({
    id: 'get_file_content',
    summary: 'Leads to the content of an uploaded file',
    description:
      'A redirect (302) to an address that serves the bytes for 15 minutes, as long as this key works. It needs no key of its own: do not ' +
      'pass it on. 404 for files by reference.',
    answer: null,
  })
  async lead(
    @CurrentCaller() { organizationId, keyId }: Caller,
    @PathId('file_id') id: string,
    @Res({ passthrough: true }) response: Response,
  ): Promise<void> {
    response.location(await this.links.of(organizationId, 'key', keyId, id));
  }
}

export const FILES_CONTROLLERS = [
  listController(FILES),
  FileUploadsController,
  FileContentController,
  ...rows({
    path: 'files/:file_id',
    noun: 'file',
    kind: KIND,
    scope: 'coursework:write',
    shown: FILES,
    fields: {
      title: { required: true },
      scope: { required: true, description: 'Who it is for. `classroom` and `group` need their id.' },
      resource_type: {
        required: true,
        description: '`link` and `google_drive` need `link_url`, `file` `file_url` or `upload_id`.',
      },
      owner_id: { nullable: true, description: 'A member. Required with the scopes `private` and `personal`.' },
      student_id: { nullable: true, description: 'Whom it is about; with the scopes `private` and `personal` only.' },
      classroom_id: { nullable: true },
      group_id: { nullable: true },
      folder_id: { kind: kinds.uuid, nullable: true, description: 'A folder of your own system: any id.' },
      file_url: { nullable: true },
      link_url: { nullable: true },
      upload_id: {
        nullable: true,
        fixed: true,
        description: 'What was uploaded, instead of `file_url`. Each upload is of one file.',
      },
    },
    examples: {
      create: {
        title: 'Quadratics, worked examples',
        scope: 'private',
        owner_id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30',
        resource_type: 'file',
        file_url: 'https://files.example.com/quadratics.pdf',
      },
      change: { title: 'Quadratics, corrected' },
    },
    notes: { change: 'Another scope drops the former target.' },
  }),
];
