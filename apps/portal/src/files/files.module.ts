import { Controller, Get, Module, Param } from '@nestjs/common';
import { Env } from '@app/config';
import { FileLinks, TeachingModule } from '@app/teaching';
import { ForManagers, type Managed, Managing } from '../web/access.decorators.js';
import { type SeeOther, seeOther } from '../web/pages.js';
import { pathId } from '../web/path-id.js';

/** Uploaded files, which the API serves. */
@Controller('o/:slug/files')
@ForManagers()
class FilesController {
  constructor(
    private readonly links: FileLinks,
    private readonly env: Env,
  ) {}

  /** Leads to the content, for 15 minutes and for this person. */
  @Get(':file_id')
  async open(@Managing() { organizationId, by }: Managed, @Param('file_id') id: string): Promise<SeeOther> {
    return seeOther(this.env.apiUrl + (await this.links.of(organizationId, 'manager', by.userId, pathId(id))));
  }
}

@Module({ imports: [TeachingModule], controllers: [FilesController] })
export class FilesModule {}
