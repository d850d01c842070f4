import { createHash } from 'node:crypto';
import {
  type CanActivate,
  Controller,
  createParamDecorator,
  type ExecutionContext,
  ForbiddenException,
  Get,
  Injectable,
  Query,
  UnauthorizedException,
  UseGuards,
} from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { ThrottlerGuard } from '@nestjs/throttler';
import { Type } from 'class-transformer';
import { IsIn, IsInt, IsOptional, IsUUID, Max, Min } from 'class-validator';
import type { Request } from 'express';
import { Repository } from 'typeorm';
import { ApiKey, Homework } from './entities.js';

type KeyedRequest = Request & { apiKey: ApiKey };

@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(@InjectRepository(ApiKey) private readonly keys: Repository<ApiKey>) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<KeyedRequest>();
    const token = /^Token token=(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
    if (!token) throw new UnauthorizedException();
    const keyHash = createHash('sha256').update(token).digest();
    const key = await this.keys.findOne({ where: { keyHash } });
    if (!key || key.revokedAt || (key.expiresAt && key.expiresAt < new Date())) throw new UnauthorizedException();
    if (!key.scopes.includes('read')) throw new ForbiddenException();
    request.apiKey = key;
    return true;
  }
}

const CurrentKey = createParamDecorator(
  (_data: unknown, context: ExecutionContext) => context.switchToHttp().getRequest<KeyedRequest>().apiKey,
);

export class ListHomeworkDto {
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(100)
  limit: number = 20;

  @Type(() => Number)
  @IsInt()
  @Min(0)
  offset: number = 0;

  @IsOptional()
  @IsIn(['text', 'exam'])
  homework_type?: string;

  @IsOptional()
  @IsIn(['classroom', 'group', 'student'])
  scope?: string;

  @IsOptional()
  @IsUUID()
  student_id?: string;
}

@Injectable()
export class HomeworkService {
  constructor(@InjectRepository(Homework) private readonly homework: Repository<Homework>) {}

  async list(organizationId: string, { limit, offset, homework_type, scope, student_id }: ListHomeworkDto) {
    const rows = await this.homework.find({
      where: { organizationId, homeworkType: homework_type, scope, studentId: student_id },
      order: { createdAt: 'DESC', id: 'DESC' },
      take: limit,
      skip: offset,
    });
    return { data: rows.map((row) => new HomeworkResponse(row)), meta: { limit, offset, count: rows.length } };
  }
}

/** The response, for the serializer. */
class HomeworkResponse {
  id: string;
  assigned_by: string;
  title: string;
  description: string | null;
  homework_type: string;
  scope: string;
  classroom_id: string | null;
  group_id: string | null;
  student_id: string | null;
  due_date: Date | null;
  files: unknown[];
  created_at: Date;

  constructor(row: Homework) {
    this.id = row.id;
    this.assigned_by = row.assignedBy;
    this.title = row.title;
    this.description = row.description;
    this.homework_type = row.homeworkType;
    this.scope = row.scope;
    this.classroom_id = row.classroomId;
    this.group_id = row.groupId;
    this.student_id = row.studentId;
    this.due_date = row.dueDate;
    this.files = row.files;
    this.created_at = row.createdAt;
  }
}

@Controller('v1/homework')
@UseGuards(ThrottlerGuard, ApiKeyGuard)
export class HomeworkController {
  constructor(private readonly homework: HomeworkService) {}

  @Get()
  list(@CurrentKey() key: ApiKey, @Query() query: ListHomeworkDto) {
    return this.homework.list(key.organizationId, query);
  }
}
