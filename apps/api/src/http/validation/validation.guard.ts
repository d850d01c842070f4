import { type CanActivate, type ExecutionContext, Injectable, type Type } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import { plainToInstance } from 'class-transformer';
import { validate, type ValidationError } from 'class-validator';
import type { Request } from 'express';
import { Env } from '@app/config';
import { accessOf } from '../auth/access.decorators.js';
import { type FaultDetail, ValidationFailed } from '../errors/api-error.js';
import { Fault } from './fault.js';
import type { ReadOptions } from './fields.js';

/** The request of a route that declares no parameters: whatever is given is too much. */
class Nothing {}

/**
 * Validates the request after the caller is known and admitted, so that 401, 429 and 403 come first. A guard rather
 * than pipes: pipes see one argument each and the first one to fail answers alone, while a caller wants all the faults
 * of a request together.
 *
 * The handler's `@Query()` class is the declaration; the handler receives an instance of it.
 */
@Injectable()
export class ValidationGuard implements CanActivate {
  private readonly shapes = new WeakMap<object, Type>();

  constructor(private readonly env: Env) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const handler = context.getHandler();
    if (accessOf(handler)?.public) return true;
    const request = context.switchToHttp().getRequest<Request>();
    const { value, faults } = await this.read(this.queryShape(context.getClass(), handler), request.query, 'query');
    if (faults.length > 0) throw new ValidationFailed(faults);
    // Express' own property is a getter that would parse the text again.
    Object.defineProperty(request, 'query', { value, configurable: true });
    return true;
  }

  private async read(shape: Type, raw: object, place: 'query'): Promise<{ value: unknown; faults: FaultDetail[] }> {
    const options: ReadOptions = { env: this.env };
    const value = plainToInstance(shape, raw, options) as object;
    const errors = await validate(value, {
      whitelist: true,
      forbidNonWhitelisted: true,
      forbidUnknownValues: false,
      stopAtFirstError: true,
    });
    const names = Object.keys(raw);
    // class-transformer passes over some names in silence: __proto__, constructor, those of Object's own methods.
    const lost = names.filter((name) => !Object.hasOwn(value, name)).map((name) => unknown([place, name]));
    const faults = [...errors.map((error) => describe(error, place)), ...lost];
    return { value, faults: faults.length > 1 ? inOrderOf(names, faults) : faults };
  }

  private queryShape(controller: Type, handler: object & { name?: string }): Type {
    let shape = this.shapes.get(handler);
    if (!shape) {
      shape = declaredType(controller, handler.name!, RouteParamtypes.QUERY) ?? Nothing;
      this.shapes.set(handler, shape);
    }
    return shape;
  }
}

/** The class of a handler's argument of this kind, from what Nest keeps of the parameter decorators. */
function declaredType(controller: Type, name: string, kind: RouteParamtypes): Type | undefined {
  const args = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, name) ?? {}) as Record<string, { index: number }>;
  const found = Object.entries(args).find(([key]) => key.startsWith(`${kind}:`));
  if (!found) return undefined;
  const types = Reflect.getMetadata('design:paramtypes', controller.prototype as object, name) as Type[];
  return types[found[1].index];
}

function describe(error: ValidationError, place: string): FaultDetail {
  const loc = [place, error.property];
  const fault: unknown = error.value;
  if (fault instanceof Fault) return { loc, msg: fault.msg, type: fault.type };
  if (error.constraints?.whitelistValidation) return unknown(loc);
  return { loc, msg: 'This parameter is required.', type: 'missing' };
}

function unknown(loc: FaultDetail['loc']): FaultDetail {
  return { loc, msg: 'This parameter is not known here. Check its spelling.', type: 'extra_forbidden' };
}

/** As the caller wrote them; what is missing comes last. */
function inOrderOf(names: string[], faults: FaultDetail[]): FaultDetail[] {
  const places = new Map(names.map((name, index) => [name, index]));
  const placeOf = ({ loc }: FaultDetail) => places.get(String(loc[1])) ?? names.length;
  return faults.sort((a, b) => placeOf(a) - placeOf(b));
}
